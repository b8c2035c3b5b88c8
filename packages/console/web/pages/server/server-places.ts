/** The pages about the server itself, in the order of their links. */
export const serverPlaces: readonly { readonly label: string; readonly to: string; readonly own?: boolean }[] = [
  { label: 'Seal', to: '/server/seal' },
  { label: 'Keys', to: '/server/keys' },
  { label: 'Nodes', to: '/server/nodes', own: true },
  { label: 'Metrics', to: '/server/metrics', own: true },
  { label: 'Audit', to: '/server/audit' },
  { label: 'Plugins', to: '/server/plugins' },
  { label: 'Log levels', to: '/server/log-levels' },
  { label: 'Configuration', to: '/server/config' },
];
