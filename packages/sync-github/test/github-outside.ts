import type { GithubServer, Outside } from '@strongroom/sync-testkit';

/** A place for secrets as GitHub's pages show it, and more: a page shows no values. */
export function githubOutside(server: () => GithubServer, where: string): Outside {
  const scope = () => server().scope(where);
  return {
    read: async (name) => {
      const secret = scope().find(name);
      return secret && { value: secret.value };
    },
    write: async (name, value) => {
      scope().put(name, { value });
    },
    remove: async (name) => {
      scope().delete(name);
    },
    requests: () => server().calls.length,
    fail: (how) => {
      const times = Number.POSITIVE_INFINITY;
      if (how === 'hanging') server().fail({ hang: true, times });
      else if (how === 'throttled') server().fail({ status: 403, code: 'secondary', retryAfter: 7, times });
      else server().fail({ status: 502, message: 'Server Error', times });
    },
    heal: () => server().heal(),
  };
}

/** A clock that goes on by a second whenever it is looked at: GitHub's times have whole seconds, and tests are faster. */
export function secondsApart(): () => number {
  let now = Date.now();
  return () => (now += 1000);
}
