/** How many colours there are for lines. src/app/tokens.test.ts checks that colour-blind eyes tell neighbours apart. */
export const seriesColours = 8;

/** The CSS variable with the colour of the line at a place. */
export const seriesVariable = (index: number) => `--ar-series-${(index % seriesColours) + 1}`;

const dashes: (number[] | undefined)[] = [undefined, [7, 4], [2, 3], [10, 3, 2, 3]];

/** Neighbours differ by their dashes as well as by colour. After the last colour, colours come again with other dashes. */
export const seriesDash = (index: number) => dashes[(index + Math.floor(index / seriesColours)) % dashes.length];

/** The line at a place, as SVG draws it. */
export const seriesStroke = (index: number) => ({
  stroke: `var(${seriesVariable(index)})`,
  strokeDasharray: seriesDash(index)?.join(' '),
});
