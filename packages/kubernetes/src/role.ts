import { BadRequest, f } from '@strongroom/engine-sdk';
import { parseSelector } from '@strongroom/kubernetes-client';
import { OWN_PREFIX } from './manifests.ts';
import type { RoleRecord } from './records.ts';
import { parseRules } from './role-rules.ts';

/** The API server issues no tokens for fewer seconds. */
export const SHORTEST_TOKEN = 600;

export const NAMESPACE_SELECTOR = { name: 'allowed_kubernetes_namespace_selector', everywhere: 'allowed_kubernetes_namespaces' } as const;

/** The parameters of a role, with Vault's and OpenBao's names. */
export const roleFields = {
  allowed_kubernetes_namespaces: f.commaStrings('Namespaces in which credentials can be created; * for all.'),
  allowed_kubernetes_namespace_selector: f.string('Label selector for additional namespaces, in JSON or YAML.', { multiline: 'json' }),
  token_max_ttl: f.duration("The longest that credentials are valid; 0 means the mount's maximum."),
  token_default_ttl: f.duration("How long credentials are valid if the caller asks for no ttl; 0 means the mount's default."),
  token_default_audiences: f.commaStrings("Audiences of tokens if the caller asks for none. Default: the API server's own."),
  service_account_name: f.string('An existing service account to create tokens for. Nothing else is created.'),
  kubernetes_role_name: f.string('An existing role of the cluster to bind a new service account to.'),
  kubernetes_role_type: f.string('Kind of kubernetes_role_name, or of the role to create: Role (default) or ClusterRole.'),
  generated_role_rules: f.string('Rules of a role to create for each credential: {"rules": […]}, in JSON or YAML.', { multiline: 'json' }),
  name_template: f.string('Template of the names of the objects that are created, with {{.DisplayName}} and {{.RoleName}}.'),
  extra_labels: f.keyValues('Additional labels of the objects that are created, as key=value.'),
  extra_annotations: f.keyValues('Additional annotations of the objects that are created, as key=value.'),
} as const;

/** What a write sends. */
export type RoleData = { readonly [K in Exclude<keyof RoleRecord, 'kubernetes_role_type'>]?: RoleRecord[K] | undefined } & {
  readonly kubernetes_role_type?: string | undefined;
};

const EMPTY: RoleRecord = {
  allowed_kubernetes_namespaces: [],
  allowed_kubernetes_namespace_selector: '',
  token_max_ttl: 0,
  token_default_ttl: 0,
  token_default_audiences: [],
  service_account_name: '',
  kubernetes_role_name: '',
  generated_role_rules: '',
  kubernetes_role_type: 'Role',
  name_template: '',
  extra_labels: {},
  extra_annotations: {},
};

/** What a write makes of the stored role: it changes what it sends. @throws BadRequest that names the parameter */
export async function writtenRole(stored: RoleRecord | undefined, data: RoleData): Promise<RoleRecord> {
  const { kubernetes_role_type: type, ...sent } = data;
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as Partial<RoleRecord>;
  const base = stored ?? EMPTY;
  const role: RoleRecord = { ...base, ...given, kubernetes_role_type: type === undefined ? base.kubernetes_role_type : roleType(type) };
  if (role.allowed_kubernetes_namespaces.length === 0 && role.allowed_kubernetes_namespace_selector === '') {
    throw new BadRequest('one (at least) of allowed_kubernetes_namespaces or allowed_kubernetes_namespace_selector must be set');
  }
  const sources = [role.service_account_name, role.kubernetes_role_name, role.generated_role_rules];
  if (sources.filter((source) => source !== '').length !== 1) {
    throw new BadRequest('one (and only one) of service_account_name, kubernetes_role_name or generated_role_rules must be set');
  }
  requireTimes(role);
  if (role.allowed_kubernetes_namespace_selector !== '')
    await parseSelector(role.allowed_kubernetes_namespace_selector, NAMESPACE_SELECTOR);
  if (role.generated_role_rules !== '') await parseRules(role.generated_role_rules);
  requireLabels(role.extra_labels);
  for (const key of Object.keys(role.extra_annotations)) requireKey('extra_annotations', key);
  return role;
}

/** Whether objects are created, so that a credential ends with them before its token does. */
export function createsAccount(role: RoleRecord): boolean {
  return role.service_account_name === '';
}

/** What a read shows. */
export function shownRole(name: string, role: RoleRecord) {
  const { allowed_kubernetes_namespaces: namespaces, token_default_audiences: audiences, extra_labels, extra_annotations } = role;
  return {
    ...role,
    name,
    allowed_kubernetes_namespaces: namespaces.length === 0 ? null : namespaces,
    token_default_audiences: audiences.length === 0 ? null : audiences,
    extra_labels: Object.keys(extra_labels).length === 0 ? null : extra_labels,
    extra_annotations: Object.keys(extra_annotations).length === 0 ? null : extra_annotations,
  };
}

function roleType(text: string): RoleRecord['kubernetes_role_type'] {
  const type = (['Role', 'ClusterRole'] as const).find((one) => one.toLowerCase() === text.toLowerCase());
  if (!type) throw new BadRequest("kubernetes_role_type must be either 'Role' or 'ClusterRole'");
  return type;
}

function requireTimes(role: RoleRecord): void {
  const { token_default_ttl: usual, token_max_ttl: longest } = role;
  if (longest > 0 && usual > longest) {
    throw new BadRequest(`token_default_ttl ${usual}s cannot be greater than token_max_ttl ${longest}s`);
  }
  if (createsAccount(role)) return;
  for (const field of ['token_max_ttl', 'token_default_ttl'] as const) {
    if (role[field] > 0 && role[field] < SHORTEST_TOKEN) {
      throw new BadRequest(
        `${field}: the API server issues no tokens for less than ${SHORTEST_TOKEN}s (10 minutes) for an existing service account`,
      );
    }
  }
}

function requireLabels(labels: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(labels)) {
    requireKey('extra_labels', key);
    if (!/^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$/.test(value)) {
      throw new BadRequest(
        `extra_labels: the value ${JSON.stringify(value)} of ${key} is not a label; it has at most 63 letters, digits, "-", "_" and ".", and begins and ends with a letter or digit`,
      );
    }
  }
}

function requireKey(field: string, key: string): void {
  const named = /^(?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/.test(key);
  if (!named) throw new BadRequest(`${field}: ${JSON.stringify(key)} is not a key of Kubernetes, such as team or example.com/team`);
  if (key.startsWith(OWN_PREFIX) || key === 'app.kubernetes.io/managed-by') throw new BadRequest(`${field}: ${key} is set by this server`);
}
