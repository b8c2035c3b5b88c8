import {
  type AnyPath,
  boundsOf,
  type EngineResponse,
  f,
  ListedKeys,
  NoContent,
  NotFound,
  type Page,
  pageFields,
  path,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { parsePolicy, type Policy } from '../../services/policies/policy.ts';
import { PolicyRecord } from '../../services/policies/policy-record.ts';
import type { PolicyStore, PolicyWrite } from '../../services/policies/policy-store.ts';

export interface PolicyPathDeps {
  readonly policies: PolicyStore;
}

const name = f.name('Name of the policy; stored in lower case.', { folds: (written) => written.toLowerCase() });
const expiry = {
  ttl: f.duration('How long the policy counts, from now.'),
  expiration: f.time('When the policy stops counting.'),
};
const versioning = {
  cas: f.int('The version that this write replaces; -1: the policy must not exist.'),
  cas_required: f.bool('Whether every write must give cas.'),
};
const templating = {
  allow_wildcards_in_identity_templates: f.bool('Whether a value filled into a path may hold * or +.'),
  allow_slashes_in_identity_templates: f.bool('Whether a value filled into a path may hold a slash.'),
};
const fields = { policy: f.string('The rules: HCL, JSON, or base64 of either.'), ...expiry, ...versioning, ...templating };

const { policy: text, ...settings } = PolicyRecord.properties;
const Details = Type.Object({ name: Type.String(), ...PolicyRecord.properties });
const DetailsByName = Type.Object({ keys: Type.Array(Type.String()), key_info: Type.Record(Type.String(), Details) });
const OlderDetails = Type.Object({ name: Type.String(), rules: text, ...settings });
const OlderNames = Type.Object({ ...ListedKeys.properties, policies: Type.Array(Type.String()) });

interface Sent {
  readonly policy: string | undefined;
  readonly ttl: number | undefined;
  readonly expiration: Date | undefined;
  readonly cas: number | undefined;
  readonly cas_required: boolean | undefined;
  readonly allow_wildcards_in_identity_templates: boolean | undefined;
  readonly allow_slashes_in_identity_templates: boolean | undefined;
}

/** `sys/policies/acl`, `sys/policies/detailed/acl` and the older `sys/policy`. */
export function policyPaths({ policies }: PolicyPathDeps): AnyPath[] {
  const policyPath = {
    synopsis: 'One access policy.',
    description: 'A policy names paths and what a token may do there. A change counts from the next call of every token that has it.',
  };
  const listAll = async (query: PolicyPage) => ({ data: { keys: (await page(policies, query)).map(([key]) => key) } });
  const listDetailed = async (query: PolicyPage) => {
    const entries = await page(policies, query);
    return {
      data: {
        keys: entries.map(([key]) => key),
        key_info: Object.fromEntries(entries.map(([key, record]) => [key, details(key, record)])),
      },
    };
  };
  const listLegacy = async (query: PolicyPage) => {
    const keys = (await page(policies, query)).map(([key]) => key);
    return { data: { keys, policies: keys } };
  };

  return [
    path('policies/acl', { synopsis: 'The access policies.', description: 'Lists the names of all policies.', fields: pageFields }).list({
      summary: 'Lists the policies.',
      response: ListedKeys,
      searched: true,
      handle: (req) => listAll(req.data),
    }),
    path('policies/acl/{name:all}', { ...policyPath, fields: { name, ...fields, ...pageFields } })
      .read({
        summary: 'Reads a policy.',
        response: Details,
        handle: async (req) => {
          const found = await policies.get(req.data.name);
          return found && { data: details(req.data.name, found), warnings: remarksOf(req.data.name, found) };
        },
      })
      .update({
        summary: 'Creates or replaces a policy.',
        response: NoContent,
        handle: async (req) => written(req.verbatim['name'] ?? req.data.name, await policies.put(req.data.name, writeOf(req.data), req.id)),
      })
      .patch({
        summary: 'Changes parts of a policy.',
        response: NoContent,
        handle: async (req) =>
          written(req.verbatim['name'] ?? req.data.name, await policies.patch(req.data.name, writeOf(req.data), req.id)),
      })
      .delete({ summary: 'Deletes a policy.', response: NoContent, handle: (req) => remove(policies, req.data.name, req.id) })
      .list({
        summary: 'Lists the policies below a prefix.',
        response: ListedKeys,
        handle: (req) => listAll({ ...req.data, prefix: req.data.name }),
      }),

    path('policies/detailed/acl', {
      synopsis: 'The access policies with their texts.',
      description: 'Lists all policies.',
      fields: pageFields,
    }).list({
      summary: 'Lists the policies with all that is known of them.',
      response: DetailsByName,
      handle: (req) => listDetailed(req.data),
    }),
    path('policies/detailed/acl/{name:all}', {
      synopsis: 'The access policies below a prefix, with their texts.',
      description: 'Lists the policies whose names begin with the prefix and a slash.',
      fields: { name, ...pageFields },
    }).list({
      summary: 'Lists the policies below a prefix.',
      response: DetailsByName,
      handle: (req) => listDetailed({ ...req.data, prefix: req.data.name }),
    }),

    path('policy', { synopsis: 'The access policies.', description: 'The older form of policies/acl.', fields: pageFields })
      .read({ summary: 'Lists the policies.', response: OlderNames, handle: (req) => listLegacy(req.data) })
      .list({ summary: 'Lists the policies.', response: OlderNames, handle: (req) => listLegacy(req.data) }),
    path('policy/{name:all}', {
      ...policyPath,
      fields: { name, rules: f.string('The older name of policy.', { deprecated: true }), ...fields, ...pageFields },
    })
      .read({
        summary: 'Reads a policy.',
        response: OlderDetails,
        handle: async (req) => {
          const found = await policies.get(req.data.name);
          if (!found) throw new NotFound();
          const { policy, ...rest } = details(req.data.name, found);
          return { data: { ...rest, rules: policy }, warnings: remarksOf(req.data.name, found) };
        },
      })
      .update({
        summary: 'Creates or replaces a policy.',
        response: NoContent,
        handle: async (req) => {
          const older = req.data.policy === undefined || req.data.policy === '';
          const policy = await policies.put(req.data.name, writeOf(older ? { ...req.data, policy: req.data.rules } : req.data), req.id);
          return written(
            req.verbatim['name'] ?? req.data.name,
            policy,
            older ? [`'rules' is deprecated, please use 'policy' instead`] : [],
          );
        },
      })
      .delete({ summary: 'Deletes a policy.', response: NoContent, handle: (req) => remove(policies, req.data.name, req.id) })
      .list({
        summary: 'Lists the policies below a prefix.',
        response: OlderNames,
        handle: (req) => listLegacy({ ...req.data, prefix: req.data.name }),
      }),
  ];
}

/** None for a text that can no longer be read: its tokens are refused, and that says so. */
function remarksOf(id: string, { policy, ...record }: PolicyRecord): readonly string[] {
  const rules = {
    allowWildcards: record.allow_wildcards_in_identity_templates,
    allowSlashes: record.allow_slashes_in_identity_templates,
  };
  try {
    return parsePolicy(id, policy, rules).remarks;
  } catch {
    return [];
  }
}

interface PolicyPage extends Page {
  readonly prefix?: string;
}

/** One page of the policies; `root` closes the last one. */
async function page(policies: PolicyStore, { prefix = '', ...query }: PolicyPage): Promise<[string, PolicyRecord][]> {
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  const root = folder === '' ? await policies.get('root') : undefined;
  const bounds = boundsOf(query);
  if (root && bounds.after === 'root') return [];
  const found = await policies.page(folder, bounds);
  if (root && found.length < (bounds.limit ?? Infinity)) found.push(['root', root]);
  return found;
}

function details(key: string, record: PolicyRecord): { name: string } & PolicyRecord {
  return { name: key, ...record };
}

function writeOf(sent: Sent): PolicyWrite {
  return {
    policy: sent.policy,
    cas: sent.cas,
    casRequired: sent.cas_required,
    ttl: sent.ttl,
    expiration: sent.expiration,
    allowWildcards: sent.allow_wildcards_in_identity_templates,
    allowSlashes: sent.allow_slashes_in_identity_templates,
  };
}

function written(sentName: string, policy: Policy, more: readonly string[] = []): EngineResponse<never> | undefined {
  const converted = sentName === policy.name ? [] : [`policy name was converted to ${policy.name}`];
  const warnings = [...converted, ...more, ...policy.notices];
  return warnings.length === 0 ? undefined : { warnings };
}

async function remove(policies: PolicyStore, key: string, request: string): Promise<undefined> {
  await policies.delete(key, request);
  return undefined;
}
