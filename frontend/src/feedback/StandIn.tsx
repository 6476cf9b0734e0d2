import { cloneElement, type ReactElement, type ReactNode, Suspense, useState } from 'react';

interface StandInProps {
  /** Begins to load the control, for when the reader comes near. */
  load: () => void;
  /** Looks like the control. */
  button: ReactElement<{ onClick?: () => void; onFocus?: () => void; onPointerEnter?: () => void }>;
  /** Shows the control without a press, as it holds something. */
  wanted?: boolean;
  /** The control, told whether it was pressed and so opens at once. */
  children: (pressed: boolean) => ReactNode;
}

/** A button in the place of a control that is loaded when it is first pressed, so that pages need not wait for it. */
export function StandIn({ load, button, wanted = false, children }: StandInProps) {
  const [pressed, setPressed] = useState(false);
  if (pressed || wanted) return <Suspense fallback={button}>{children(pressed)}</Suspense>;
  return cloneElement(button, { onClick: () => setPressed(true), onFocus: load, onPointerEnter: load });
}
