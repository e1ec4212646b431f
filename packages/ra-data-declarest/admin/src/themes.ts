import { defaultDarkTheme, defaultLightTheme, type RaThemeOptions } from 'react-admin';

/** Where buttons of react-admin have no text. */
const NARROW = '@media (max-width: 599.95px)';

const SELECTED = '.RaBulkActionsToolbar-toolbar:not(.RaBulkActionsToolbar-collapsed)';

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
    // Above the buttons of a form.
    MuiSnackbar: { styleOverrides: { root: { '&.MuiSnackbar-anchorOriginBottomCenter': { bottom: 88 } } } },
    MuiCircularProgress: { defaultProps: { 'aria-label': 'Loading' } },
    MuiLinearProgress: { defaultProps: { 'aria-label': 'Loading' } },
    RaSkipNavigationButton: {
      styleOverrides: {
        root: {
          // Its own colours have no contrast.
          color: 'inherit',
          // Without its text, it would show nothing.
          [NARROW]: { '&::before': { content: 'attr(aria-label)', fontSize: '0.875rem' } },
        },
      },
    },
    // Where nothing is selected, the buttons of bulk actions take no focus.
    RaBulkActionsToolbar: {
      styleOverrides: { root: { '& .RaBulkActionsToolbar-collapsed': { visibility: 'hidden' } } },
    },
    // Its property has no effect with MUI 9.
    RaSingleFieldList: { styleOverrides: { root: { gap: '0.25em' } } },
    // Else they cover the buttons of the list, which must take no focus then.
    RaList: { styleOverrides: { root: { [`&:has(${SELECTED}) .RaList-actions`]: { visibility: 'hidden' } } } },
  },
});

export const lightTheme = withAccessibility(defaultLightTheme as RaThemeOptions, {
  primary: { main: '#1565c0' },
  secondary: { main: '#1565c0' },
  error: { main: '#b71c1c' },
});
export const darkTheme = withAccessibility(defaultDarkTheme as RaThemeOptions, { error: { main: '#ff9e94' } });
