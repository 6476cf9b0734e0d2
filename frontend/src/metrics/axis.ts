export const axes = ['step', 'time', 'relative'] as const;

/** What lies along the x-axis: training steps, the time of day, or the time since the run began. */
export type Axis = (typeof axes)[number];
