import { createRoot } from 'react-dom/client';

import { ShopAdmin } from './shop-admin.js';

const root = document.getElementById('root');
if (root) createRoot(root).render(<ShopAdmin />);
