import type { Run } from '../api/client';
import { TextLink } from '../app/links';

export function RunLink({ run }: { run: Run }) {
  return (
    <TextLink to="/runs/$runId" params={{ runId: run.id }} fw={550} className="name">
      {run.name}
    </TextLink>
  );
}
