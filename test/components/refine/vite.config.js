import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // refine-declarest is a link to a folder that has another copy of @refinedev/core.
  resolve: { dedupe: ['@refinedev/core'] },
  build: { chunkSizeWarningLimit: 5000 },
});
