import type { AzureServer, Outside } from '@strongroom/sync-testkit';

/** The vault as its console sees it. */
export function azureOutside(server: () => AzureServer): Outside {
  const find = (name: string) =>
    server()
      .secrets.live()
      .find((entry) => entry.name.toLowerCase() === name.toLowerCase());
  return {
    read: async (name) => {
      const version = find(name)?.versions.at(-1);
      return version && { value: version.value, tags: version.tags };
    },
    write: async (name, value) => {
      server().secrets.set(name, { value, tags: find(name)?.versions.at(-1)?.tags });
    },
    remove: async (name) => server().secrets.purge(name),
    softDelete: async (name) => {
      server().secrets.delete(name);
    },
    requests: () => server().calls.length,
    fail: (how) => {
      const times = Number.POSITIVE_INFINITY;
      if (how === 'hanging') server().fail({ hang: true, times });
      else if (how === 'throttled') server().fail({ status: 429, code: 'Throttled', retryAfter: 7, times });
      else server().fail({ status: 503, code: 'ServiceUnavailable', times });
    },
    heal: () => server().heal(),
  };
}
