import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The sample shop, while `scripts/admin-for.mjs` runs. */
const { SHOP_URL: shop } = process.env;

export default defineConfig({
  plugins: [react()],
  // A service serves the page at any path.
  base: './',
  // ra-data-declarest has another copy of ra-core.
  resolve: { dedupe: ['ra-core'] },
  build: { outDir: '../static', emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  server: { proxy: shop ? { '/api': shop, '/admin/resources.json': shop } : {} },
});
