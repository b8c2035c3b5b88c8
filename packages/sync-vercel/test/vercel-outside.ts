import type { Outside, VercelProject, VercelServer } from '@strongroom/sync-testkit';

/** A project's variables as its dashboard shows them, and more: a dashboard shows no values. */
export function vercelOutside(server: () => VercelServer, project: () => VercelProject): Outside {
  const find = (name: string) =>
    project()
      .all()
      .find(({ key }) => key === name);
  return {
    read: async (name) => {
      const variable = find(name);
      return variable && { value: variable.value };
    },
    write: async (name, value) => {
      const variable = find(name);
      if (variable === undefined) project().create({ key: name, value, type: 'sensitive', target: ['production'] });
      else project().update(variable.id, { value });
    },
    remove: async (name) => {
      const variable = find(name);
      if (variable !== undefined) project().delete(variable.id);
    },
    requests: () => server().calls.length,
    fail: (how) => {
      const times = Number.POSITIVE_INFINITY;
      if (how === 'hanging') server().fail({ hang: true, times });
      else if (how === 'throttled') server().fail({ status: 429, code: 'too_many_requests', retryAfter: 7, times });
      else server().fail({ status: 500, code: 'internal_server_error', times });
    },
    heal: () => server().heal(),
  };
}
