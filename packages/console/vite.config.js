import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { licences } from './scripts/licences.js';
import { themeSheet } from './scripts/theme-sheet.js';

/** Everything is served from `/ui/`; nothing is inlined, because the content security policy allows files of this server alone. */
export default defineConfig({
  root: resolve(import.meta.dirname, 'web'),
  base: '/ui/',
  plugins: [react(), themeSheet(), licences()],
  build: {
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    reportCompressedSize: false,
  },
});
