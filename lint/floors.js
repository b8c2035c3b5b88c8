/**
 * The floors of packages, by folder below `src`, the lowest first: see docs/architecture.md. What is on a floor knows what is below it, and nothing above.
 * Rooms that share a floor do not know each other.
 */
export const floors = {
  core: {
    '': [['kernel'], ['services'], ['request', 'api', 'lifecycle'], ['core-options.ts'], ['core.ts'], ['index.ts']],
    kernel: [
      ['version.ts', 'loggers.ts', 'siblings.ts', 'share-of-limit.ts', 'faults', 'random'],
      ['changes-in-step.ts'],
      ['barrier'],
      ['storage'],
      ['incarnation'],
      ['call'],
      ['mounts'],
      ['work'],
      ['kernel.ts'],
    ],
    services: [
      ['events'],
      ['figures'],
      ['policies', 'identity', 'accounts', 'outside', 'lockout', 'plugins', 'documents', 'seal', 'settings', 'nodes', 'imports'],
      ['passwords', 'journal', 'jobs', 'mfa', 'oidc', 'ceremony'],
      ['leases'],
      ['tokens'],
      ['caller', 'overview', 'revocation', 'wrapping'],
      ['audit', 'mounts'],
      ['removal', 'quotas', 'search', 'following', 'snapshots'],
      ['attention'],
      ['services.ts'],
    ],
    api: [['sys', 'token', 'identity', 'oidc', 'cubbyhole'], ['engines.ts']],
  },
};
