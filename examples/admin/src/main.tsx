import { createRoot } from 'react-dom/client';

import { ResetPage } from './reset-page.js';
import { ShopAdmin } from './shop-admin.js';

/** Mailed links have the token behind `#`. It is a secret, so it leaves the address bar. */
function openResetPage() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  history.replaceState(null, '', location.pathname);
  return <ResetPage token={token} />;
}

const root = document.getElementById('root');
if (root) createRoot(root).render(location.pathname === '/reset' ? openResetPage() : <ShopAdmin />);
