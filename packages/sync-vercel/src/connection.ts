import { f } from '@strongroom/engine-sdk';
import { type Static, Type } from 'typebox';

export const ENVIRONMENTS = ['development', 'preview', 'production'] as const;

/** What `sys/sync/destinations/vercel-project/<name>` takes, beyond the fields of every destination. */
export const VercelConnection = Type.Object({
  access_token: f.secret('Access token that may manage environment variables of the project.', { required: true }),
  project_id: f.string('Project whose environment variables are written: prj_….', { required: true }),
  team_id: f.string('Team that owns the project: team_…. Default: the account of the token.'),
  deployment_environments: f.commaStrings(`Environments in which the variables are there: ${ENVIRONMENTS.join(', ')}.`, { required: true }),
});

export type VercelConnection = Static<typeof VercelConnection>;

/** What the operator decides for all destinations of this kind. */
export interface VercelOptions {
  /** In place of https://api.vercel.com. Read whenever a destination is opened. */
  readonly endpoint?: string;
}

/** Everything wrong with a connection, without looking at Vercel. */
export function checkConnection(connection: VercelConnection): readonly string[] {
  const faults: string[] = [];
  const environments = connection.deployment_environments ?? [];
  if (environments.length === 0) faults.push(`deployment_environments must name at least one of ${ENVIRONMENTS.join(', ')}`);
  const unknown = environments.find((name) => !(ENVIRONMENTS as readonly string[]).includes(name));
  if (unknown !== undefined) faults.push(`deployment_environments takes ${ENVIRONMENTS.join(', ')}, and not "${unknown}"`);
  for (const name of ['project_id', 'team_id'] as const) {
    const value = connection[name];
    if (value && !/^[A-Za-z0-9_.-]+$/.test(value)) faults.push(`${name} must be an id, of letters, digits, "_", "-" and "."`);
  }
  return faults;
}

/** The environments, each once, in an order of their own. */
export function targetsOf(connection: Pick<VercelConnection, 'deployment_environments'>): readonly string[] {
  return ENVIRONMENTS.filter((name) => connection.deployment_environments.includes(name));
}
