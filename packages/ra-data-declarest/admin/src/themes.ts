import { defaultDarkTheme, defaultLightTheme, type RaThemeOptions } from 'react-admin';

/** Where buttons of react-admin have no text. */
const NARROW = '@media (max-width: 599.95px)';

/** The colours of react-admin have too little contrast for small texts. */
const withAccessibility = (theme: RaThemeOptions, palette: object): RaThemeOptions => ({
  ...theme,
  palette: { ...theme.palette, ...palette },
  components: {
    ...theme.components,
    MuiCheckbox: {
      // react-admin names the element around the checkbox.
      defaultProps: { slotProps: { root: { 'aria-label': undefined }, input: { 'aria-label': 'Select this row' } } },
    },
    MuiCircularProgress: { defaultProps: { 'aria-label': 'Loading' } },
    MuiLinearProgress: { defaultProps: { 'aria-label': 'Loading' } },
    // Without its text, it would show nothing.
    RaSkipNavigationButton: {
      styleOverrides: { root: { [NARROW]: { '&::before': { content: 'attr(aria-label)', fontSize: '0.875rem' } } } },
    },
    // Where nothing is selected, the buttons of bulk actions take no focus.
    RaBulkActionsToolbar: {
      styleOverrides: { root: { '& .RaBulkActionsToolbar-collapsed': { visibility: 'hidden' } } },
    },
  },
});

export const lightTheme = withAccessibility(defaultLightTheme as RaThemeOptions, {
  primary: { main: '#1565c0' },
  secondary: { main: '#1565c0' },
  error: { main: '#b71c1c' },
});
export const darkTheme = withAccessibility(defaultDarkTheme as RaThemeOptions, { error: { main: '#ff9e94' } });
