import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // ra-data-declarest is a link to a folder that has another copy of ra-core.
  resolve: { dedupe: ['ra-core'] },
  build: { chunkSizeWarningLimit: 5000 },
});
