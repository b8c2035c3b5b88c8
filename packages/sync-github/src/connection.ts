import { f } from '@strongroom/engine-sdk';
import { type Static, Type } from 'typebox';

/** What `sys/sync/destinations/gh/<name>` takes, beyond the fields of every destination. */
export const GithubConnection = Type.Object({
  access_token: f.secret('Fine-grained or classic personal access token. Excludes app_name.'),
  app_name: f.string('Name under sys/sync/github-apps of the GitHub App to act as. Needs installation_id.'),
  installation_id: f.int('Id of the installation of the app in the account that owns the secrets.', { minimum: 1 }),
  secrets_location: f.string('Whether secrets belong to a repository or to an organization.', {
    default: 'repository',
    values: ['repository', 'organization'],
  }),
  repository_owner: f.string('Organization or user that owns the repository.'),
  repository_name: f.string('Name of the repository, without its owner.', { aliases: ['repisitory_name'] }),
  environment_name: f.string('Environment of the repository that the secrets belong to. Default: the repository itself.'),
  organization_name: f.string('Organization that the secrets belong to.'),
  organization_visibility: f.string('Repositories of the organization that may use the secrets.', {
    default: 'all',
    values: ['all', 'private', 'selected'],
  }),
  selected_repository_names: f.commaStrings('With organization_visibility "selected": names of those repositories, without their owner.'),
  enterprise_url: f.string('Address of a GitHub Enterprise Server, or of the API of GitHub Enterprise Cloud with data residency.'),
});

export type GithubConnection = Static<typeof GithubConnection>;

/** What the operator decides for all destinations of this kind. */
export interface GithubOptions {
  /** The REST API of destinations without `enterprise_url`, in place of https://api.github.com. */
  readonly endpoint?: string;
}

/** An owner, repository, environment or organization, as GitHub allows them; anything else would lead to another address. */
const PART = /^[^/\\?#\s]+$/;

/** Everything wrong with a connection, without looking at GitHub. */
export function checkConnection(connection: GithubConnection): readonly string[] {
  return [...credentialFaults(connection), ...placeFaults(connection), ...addressFaults(connection.enterprise_url)];
}

function credentialFaults({ access_token: token, app_name: app, installation_id: installation }: GithubConnection): string[] {
  if (token && app) return ['access_token and app_name exclude each other'];
  if (!token && !app) return ['access_token, or app_name and installation_id, is required'];
  if (app && !installation) return ['installation_id is required with app_name'];
  if (!app && installation) return ['installation_id goes with app_name'];
  return [];
}

function placeFaults(connection: GithubConnection): string[] {
  const faults: string[] = [];
  const inOrganization = connection.secrets_location === 'organization';
  const needed = inOrganization ? (['organization_name'] as const) : (['repository_owner', 'repository_name'] as const);
  const foreign = inOrganization ? (['environment_name'] as const) : (['organization_name'] as const);
  for (const name of needed) {
    if (!connection[name]) faults.push(`${name} is required where secrets_location is ${connection.secrets_location}`);
  }
  for (const name of foreign) {
    if (connection[name]) faults.push(`${name} has no meaning where secrets_location is ${connection.secrets_location}`);
  }
  for (const name of ['repository_owner', 'repository_name', 'organization_name'] as const) {
    if (connection[name] && !isPart(connection[name])) faults.push(`${name} must be a name alone, without "/"`);
  }
  if (connection.environment_name && /^\.+$/.test(connection.environment_name)) faults.push('environment_name must be a name');
  const selected = connection.selected_repository_names ?? [];
  if (inOrganization && connection.organization_visibility === 'selected' && selected.length === 0) {
    faults.push('selected_repository_names is required where organization_visibility is selected');
  }
  if (selected.length > 0 && (!inOrganization || connection.organization_visibility !== 'selected')) {
    faults.push('selected_repository_names goes with organization_visibility "selected"');
  }
  if (selected.some((name) => !isPart(name))) faults.push('selected_repository_names must be names alone, without their owner');
  return faults;
}

const isPart = (name: string): boolean => PART.test(name) && !/^\.+$/.test(name);

function addressFaults(address: string | undefined): string[] {
  if (!address) return [];
  const uri = URL.canParse(address) ? new URL(address) : undefined;
  if (uri?.protocol !== 'https:' || uri.username !== '' || uri.search !== '' || uri.hash !== '') {
    return ['enterprise_url must be an https address, such as https://github.example.com'];
  }
  return [];
}

/** GitHub's own hosts, whose API is on a host beside them: github.com, and tenants with data residency. */
const GITHUBS_OWN = /^(github\.com|[a-z0-9-]+\.ghe\.com)$/;

/** Where the REST API is: GitHub Enterprise Server has it below `/api/v3`, hosts named `api.…` have it at their root. */
export function apiAddress(address: string | undefined, options: GithubOptions = {}): string {
  if (!address) return options.endpoint ?? 'https://api.github.com';
  const uri = new URL(address);
  const path = uri.pathname.replace(/\/+$/, '');
  if (path !== '' || uri.hostname.startsWith('api.')) return `${uri.origin}${path}`;
  return GITHUBS_OWN.test(uri.host) ? `https://api.${uri.host}` : `${uri.origin}/api/v3`;
}
