/** How many colours there are for lines. They differ for colour-blind eyes, too. */
const colours = 8;

/** The CSS variable with the colour of the line at a place. */
export const seriesVariable = (index: number) => `--ar-series-${(index % colours) + 1}`;

const dashes: (number[] | undefined)[] = [undefined, [7, 4], [2, 3], [10, 3, 2, 3]];

/** Neighbours differ by their dashes as well as by colour, so that colour is never all that tells them apart. */
export const seriesDash = (index: number) => dashes[index % dashes.length];
