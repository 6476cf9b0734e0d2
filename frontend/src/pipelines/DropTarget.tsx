import { IconUpload } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import classes from './Upload.module.css';

interface DropTargetProps {
  label: string;
  disabled: boolean;
  onFile: (file: File) => void;
}

const holdsFile = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

/** Makes the whole page take a dropped file. Choosing one in a dialog is the way for the keyboard. */
export function DropTarget({ label, disabled, onFile }: DropTargetProps) {
  const [over, setOver] = useState(false);

  useEffect(() => {
    if (disabled) return;
    // Entering a child leaves its parent, so entries are counted.
    let depth = 0;
    const enter = (event: DragEvent) => {
      if (!holdsFile(event)) return;
      depth++;
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (holdsFile(event) && --depth <= 0) setOver(false);
    };
    const allow = (event: DragEvent) => {
      if (holdsFile(event)) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      depth = 0;
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      onFile(file);
    };
    window.addEventListener('dragenter', enter);
    window.addEventListener('dragleave', leave);
    window.addEventListener('dragover', allow);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragenter', enter);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('dragover', allow);
      window.removeEventListener('drop', drop);
    };
  }, [disabled, onFile]);

  if (!over) return null;
  return (
    <div className={classes.cover} aria-hidden>
      <div className={classes.coverText}>
        <IconUpload size={40} />
        {label}
      </div>
    </div>
  );
}
