import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // The providers are links to folders that have other copies of these.
  resolve: { dedupe: ['ra-core'] },
  build: { rollupOptions: { input: ['react-admin.html'] }, chunkSizeWarningLimit: 5000 },
});
