import 'virtual:theme.css';
import './sheets.css';
import { MantineProvider, localStorageColorSchemeManager } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { loadSettings } from '../api/console-settings.ts';
import { queryClient } from '../api/queries.ts';
import { Notices } from './notices.tsx';
import { router } from './router.tsx';
import { theme } from './theme.ts';

void loadSettings();

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={localStorageColorSchemeManager({ key: 'strongroom-color-scheme' })}
      withCssVariables={false}
      withGlobalClasses={false}
      deduplicateInlineStyles={false}
    >
      <QueryClientProvider client={queryClient}>
        <Notices />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
