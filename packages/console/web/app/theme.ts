import { createTheme, type CSSVariablesResolver } from '@mantine/core';

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace';

/** Shade 8 carries white text at 4.5:1 or better in every colour, in the light and in the dark. */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: 8,
  fontFamily: SANS,
  fontFamilyMonospace: MONO,
  headings: { fontFamily: SANS, fontWeight: '650' },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  autoContrast: false,
  components: {
    // Without these the button that shows a password is left out of the order of focus, and has no name.
    PasswordInput: { defaultProps: { visibilityToggleButtonProps: { tabIndex: 0, 'aria-label': 'Show what is typed' } } },
  },
});

/** What Mantine's own greys and reds lack in contrast (WCAG 2.2 AA, 4.5:1). */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#52585f',
    '--mantine-color-placeholder': '#666c73',
    '--mantine-color-anchor': '#1457a8',
    '--mantine-color-error': '#b3261e',
    '--mantine-color-blue-light-color': '#0b4a8f',
    '--mantine-color-red-light-color': '#8f1d1d',
    '--mantine-color-green-light-color': '#14592a',
    '--mantine-color-yellow-light-color': '#6b4a00',
    '--mantine-color-orange-light-color': '#7d3c00',
    '--mantine-color-gray-light-color': '#3d434a',
    '--mantine-color-blue-outline': '#0b4a8f',
    '--mantine-color-red-outline': '#8f1d1d',
  },
  dark: {
    '--mantine-color-dimmed': '#a8adb5',
    '--mantine-color-placeholder': '#9aa0a8',
    '--mantine-color-anchor': '#7cb8ff',
    '--mantine-color-error': '#ff9a93',
    '--mantine-color-blue-light-color': '#a9d1ff',
    '--mantine-color-red-light-color': '#ffb3ad',
    '--mantine-color-green-light-color': '#a6e3b5',
    '--mantine-color-yellow-light-color': '#ffe08a',
    '--mantine-color-orange-light-color': '#ffc999',
    '--mantine-color-gray-light-color': '#d4d8de',
    '--mantine-color-blue-outline': '#a9d1ff',
    '--mantine-color-red-outline': '#ffb3ad',
  },
});
