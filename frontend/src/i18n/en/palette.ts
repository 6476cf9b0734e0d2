/** English texts of the palette and the keys. */
export const palette = {
  palette: {
    title: 'Go to a page, run or pipeline, or do something',
    placeholder: 'Page, run, pipeline or command',
    theme: 'Change the theme: {{theme}}',
    language: 'Change the language: {{language}}',
    page: 'Page',
    nothing: 'Nothing has this in its name.',
    choose: 'choose',
    open: 'open',
    toSearch: 'Search the list',
    help: 'Keys',
  },
};
