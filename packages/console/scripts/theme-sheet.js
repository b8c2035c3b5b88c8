import { convertCssVariables, defaultCssVariablesResolver, DEFAULT_THEME, mergeMantineTheme } from '@mantine/core';
import { createServer } from 'vite';

const NAME = 'virtual:theme.css';
const RESOLVED = `\0${NAME}`;

/**
 * A plugin that serves the theme's variables as the sheet `virtual:theme.css`. Mantine writes them into a `<style>` element when it runs, which the content
 * security policy forbids; so they are written once, at build.
 */
export function themeSheet() {
  return {
    name: 'strongroom-theme-sheet',
    resolveId: (id) => (id === NAME ? RESOLVED : undefined),
    async load(id) {
      if (id !== RESOLVED) return undefined;
      const loader = await createServer({
        configFile: false,
        logLevel: 'error',
        server: { middlewareMode: true, ws: false },
        appType: 'custom',
      });
      try {
        const { theme: ours, variables } = await loader.ssrLoadModule(new URL('../web/app/theme.ts', import.meta.url).pathname);
        return sheetOf(mergeMantineTheme(DEFAULT_THEME, ours), variables);
      } finally {
        await loader.close();
      }
    },
  };
}

function sheetOf(theme, variables) {
  const standard = defaultCssVariablesResolver(theme);
  const own = variables(theme);
  const both = (part) => ({ ...standard[part], ...own[part] });
  const hidden = Object.entries(theme.breakpoints).flatMap(([name, width]) => [
    `@media (max-width: calc(${width} - 0.01em)) { .mantine-visible-from-${name} { display: none !important; } }`,
    `@media (min-width: ${width}) { .mantine-hidden-from-${name} { display: none !important; } }`,
  ]);
  return [convertCssVariables({ variables: both('variables'), light: both('light'), dark: both('dark') }, ':root'), ...hidden].join('\n');
}
