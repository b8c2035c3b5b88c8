import type { Octokit } from '@octokit/rest';
import type { GithubConnection } from './connection.ts';

/** What GitHub says about a secret. */
export interface ListedSecret {
  readonly name: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface PublicKey {
  readonly key_id: string;
  /** Base64. */
  readonly key: string;
}

/** A repository, an environment or an organization: what has secrets. Calls throw what Octokit throws. */
export interface SecretsPlace {
  readonly title: string;
  publicKey(signal: AbortSignal): Promise<PublicKey>;
  get(name: string, signal: AbortSignal): Promise<ListedSecret>;
  put(name: string, sealed: string, keyId: string, signal: AbortSignal): Promise<void>;
  delete(name: string, signal: AbortSignal): Promise<void>;
  list(page: number, size: number, signal: AbortSignal): Promise<{ readonly total: number; readonly secrets: readonly ListedSecret[] }>;
}

export function placeOf(github: Octokit, connection: GithubConnection): SecretsPlace {
  const { repository_owner: owner, repository_name: repo, environment_name: environment } = connection;
  if (connection.secrets_location === 'organization') return organization(github, connection);
  const repository = { owner: owner!, repo: repo! };
  return environment ? environmentOf(github, { ...repository, environment_name: environment }) : repositoryOf(github, repository);
}

const request = (signal: AbortSignal): { request: { signal: AbortSignal } } => ({ request: { signal } });

function repositoryOf({ rest: { actions } }: Octokit, where: { owner: string; repo: string }): SecretsPlace {
  return {
    title: `repository ${where.owner}/${where.repo}`,
    publicKey: async (signal) => (await actions.getRepoPublicKey({ ...where, ...request(signal) })).data,
    get: async (secret_name, signal) => (await actions.getRepoSecret({ ...where, secret_name, ...request(signal) })).data,
    put: async (secret_name, encrypted_value, key_id, signal) => {
      await actions.createOrUpdateRepoSecret({ ...where, secret_name, encrypted_value, key_id, ...request(signal) });
    },
    delete: async (secret_name, signal) => {
      await actions.deleteRepoSecret({ ...where, secret_name, ...request(signal) });
    },
    list: async (page, per_page, signal) => {
      const { data } = await actions.listRepoSecrets({ ...where, page, per_page, ...request(signal) });
      return { total: data.total_count, secrets: data.secrets };
    },
  };
}

function environmentOf({ rest: { actions } }: Octokit, where: { owner: string; repo: string; environment_name: string }): SecretsPlace {
  return {
    title: `environment ${where.environment_name} of ${where.owner}/${where.repo}`,
    publicKey: async (signal) => (await actions.getEnvironmentPublicKey({ ...where, ...request(signal) })).data,
    get: async (secret_name, signal) => (await actions.getEnvironmentSecret({ ...where, secret_name, ...request(signal) })).data,
    put: async (secret_name, encrypted_value, key_id, signal) => {
      await actions.createOrUpdateEnvironmentSecret({ ...where, secret_name, encrypted_value, key_id, ...request(signal) });
    },
    delete: async (secret_name, signal) => {
      await actions.deleteEnvironmentSecret({ ...where, secret_name, ...request(signal) });
    },
    list: async (page, per_page, signal) => {
      const { data } = await actions.listEnvironmentSecrets({ ...where, page, per_page, ...request(signal) });
      return { total: data.total_count, secrets: data.secrets };
    },
  };
}

function organization({ rest: { actions, repos } }: Octokit, connection: GithubConnection): SecretsPlace {
  const org = connection.organization_name!;
  const visibility = connection.organization_visibility as 'all' | 'private' | 'selected';
  const ids = new Map<string, number>();
  /** GitHub takes the ids of repositories; they stay when a repository is renamed. */
  const selectedIds = async (signal: AbortSignal): Promise<number[]> => {
    const found: number[] = [];
    for (const repo of connection.selected_repository_names ?? []) {
      const id = ids.get(repo) ?? (await repos.get({ owner: org, repo, ...request(signal) })).data.id;
      ids.set(repo, id);
      found.push(id);
    }
    return found;
  };
  return {
    title: `organization ${org}`,
    publicKey: async (signal) => (await actions.getOrgPublicKey({ org, ...request(signal) })).data,
    get: async (secret_name, signal) => (await actions.getOrgSecret({ org, secret_name, ...request(signal) })).data,
    put: async (secret_name, encrypted_value, key_id, signal) => {
      const selected = visibility === 'selected' ? { selected_repository_ids: await selectedIds(signal) } : {};
      await actions.createOrUpdateOrgSecret({ org, secret_name, encrypted_value, key_id, visibility, ...selected, ...request(signal) });
    },
    delete: async (secret_name, signal) => {
      await actions.deleteOrgSecret({ org, secret_name, ...request(signal) });
    },
    list: async (page, per_page, signal) => {
      const { data } = await actions.listOrgSecrets({ org, page, per_page, ...request(signal) });
      return { total: data.total_count, secrets: data.secrets };
    },
  };
}
