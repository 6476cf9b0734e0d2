import { Anchor, type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

// All values are in tokens.css: here the library's names are given to them.
const token = (name: string) => `var(--ar-${name})`;
const shades = (name: string) => Array.from({ length: 10 }, (_, i) => token(`${name}-${i}`));
const sizes = (all: object) => Object.fromEntries(Object.entries(all).map(([size, name]) => [size, token(name)]));

export const theme = createTheme({
  primaryColor: 'tide',
  primaryShade: { light: 8, dark: 7 },
  colors: {
    tide: shades('tide') as unknown as MantineColorsTuple,
    dark: shades('grey') as unknown as MantineColorsTuple,
  },
  fontFamily: token('font'),
  fontFamilyMonospace: token('font-code'),
  fontSizes: sizes({ xs: 'text-xs', sm: 'text-sm', md: 'text-md', lg: 'text-lg', xl: 'text-xl' }),
  spacing: sizes({ xs: 'space-8', sm: 'space-12', md: 'space-16', lg: 'space-20', xl: 'space-32' }),
  radius: sizes({ xs: 'radius-xs', sm: 'radius-sm', md: 'radius-md', lg: 'radius-lg', xl: 'radius-full' }),
  headings: {
    fontWeight: token('weight-strong'),
    sizes: {
      h3: { fontSize: token('text-xl') },
      h4: { fontSize: token('text-lg') },
      h5: { fontSize: token('text-md') },
      h6: { fontSize: token('text-sm') },
    },
  },
  defaultRadius: 'md',
  respectReducedMotion: true,
  cursorType: 'pointer',
  focusRing: 'auto',
  components: {
    Anchor: Anchor.extend({ defaultProps: { inherit: true } }),
    // Not by Modal.extend: dialogs are loaded when one is opened.
    Modal: {
      styles: { title: { fontSize: token('text-lg'), fontWeight: token('weight-strong') } },
      // Its <header> would be a second banner of the page.
      defaultProps: { attributes: { header: { role: 'presentation' } } },
    },
  },
});

// The library gives these in each theme, so that ours must stand in each as well.
const ofTheme = {
  '--mantine-color-dimmed': token('dimmed'),
  '--mantine-color-body': token('surface'),
  '--mantine-color-text': token('text'),
  '--mantine-color-placeholder': token('placeholder'),
  '--mantine-color-error': token('bad'),
  '--mantine-color-anchor': token('link'),
};

/** Colours of the library that have a token of ours. */
export const variables: CSSVariablesResolver = () => ({ variables: {}, light: ofTheme, dark: ofTheme });
