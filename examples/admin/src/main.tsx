import { createTheme, ThemeProvider } from '@mui/material/styles';
import CssBaseline from '@mui/material/CssBaseline';
import useMediaQuery from '@mui/material/useMediaQuery';
import type { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

import { ResetPage, VerifyPage } from './link-pages.js';
import { ShopAdmin } from './shop-admin.js';
import { darkTheme, lightTheme } from './themes.js';

/** As react-admin does: light or dark as the system is. */
function Themed({ children }: { readonly children: ReactNode }) {
  const isDark = useMediaQuery('(prefers-color-scheme: dark)');
  return (
    <ThemeProvider theme={createTheme(isDark ? darkTheme : lightTheme)}>
      <CssBaseline />
      {children}
    </ThemeProvider>
  );
}

/** Mailed links have the token behind `#`. It is a secret, so it leaves the address bar. */
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  history.replaceState(null, '', location.pathname);
  return token;
}

function openPage() {
  if (location.pathname === '/reset')
    return (
      <Themed>
        <ResetPage token={takeToken()} />
      </Themed>
    );
  if (location.pathname === '/verify')
    return (
      <Themed>
        <VerifyPage token={takeToken()} />
      </Themed>
    );
  return <ShopAdmin />;
}

const root = document.getElementById('root');
if (root) createRoot(root).render(openPage());
