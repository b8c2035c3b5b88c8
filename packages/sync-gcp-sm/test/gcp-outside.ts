import type { GoogleServer, Outside } from '@strongroom/sync-testkit';

/** The project as its console sees it. */
export function gcpOutside(server: () => GoogleServer): Outside {
  const secrets = () => server().secrets;
  return {
    read: async (name) => {
      const secret = secrets().find(name);
      const version = secret?.versions.at(-1);
      return secret && version && { value: version.data.toString('utf8'), tags: secret.labels };
    },
    write: async (name, value) => {
      if (secrets().find(name) === undefined) secrets().create(name, { automatic: {} }, {}, {});
      secrets().addVersion(name, Buffer.from(value));
    },
    remove: async (name) => {
      if (secrets().find(name) !== undefined) secrets().delete(name, '');
    },
    requests: () => server().calls.length,
    fail: (how) => {
      const times = Number.POSITIVE_INFINITY;
      if (how === 'hanging') server().fail({ hang: true, times });
      else if (how === 'throttled') server().fail({ status: 'RESOURCE_EXHAUSTED', retryAfter: 7, times });
      else server().fail({ status: 'UNAVAILABLE', times });
    },
    heal: () => server().heal(),
  };
}
