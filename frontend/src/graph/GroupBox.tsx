import { Handle, type Node, Position } from '@xyflow/react';
import classes from './StepGraph.module.css';

export type BoxNode = Node<{ step?: undefined; chosen?: undefined }, 'box'>;

/** The frame around the steps of an open group. The group's card says its name. */
export function GroupBox() {
  return (
    <>
      <div className={classes.box} />
      <Handle type="source" position={Position.Bottom} className={classes.handle} isConnectable={false} />
    </>
  );
}
