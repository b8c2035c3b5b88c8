import { type Answered, type AnyPath, f, NoContent, path, rawAnswer, TokenRefused } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { MountTable } from '../../services/mounts/mount-table.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { Acl } from '../../services/policies/acl.ts';
import { internalOf } from '../../services/caller/internal-request.ts';
import { MountData, mountData, OpenMount, PlacedMount } from './mount-data.ts';
import { ApiDocuments } from '../../services/documents/api-documents.ts';

const ReachableMount = Type.Union([MountData, OpenMount]);
const ReachableMounts = Type.Record(Type.String(), ReachableMount);

const values = Type.Record(Type.String(), Type.Array(Type.Unknown()));
const ResultantPaths = Type.Record(
  Type.String(),
  Type.Object({
    capabilities: Type.Array(Type.String()),
    min_wrapping_ttl: Type.Optional(Type.Number({ description: 'Seconds.' })),
    max_wrapping_ttl: Type.Optional(Type.Number({ description: 'Seconds.' })),
    allowed_parameters: Type.Optional(values),
    denied_parameters: Type.Optional(values),
    required_parameters: Type.Optional(Type.Array(Type.String())),
  }),
);
const ResultantPolicies = Type.Object({
  root: Type.Boolean(),
  exact_paths: Type.Optional(ResultantPaths),
  glob_paths: Type.Optional(ResultantPaths),
});

const NO_PATHS: readonly AnyPath[] = [];

/** Whether `Accept-Encoding` names gzip, and not to refuse it. */
function takesGzip(accepted: string): boolean {
  return accepted.split(',').some((coding) => /^\s*(x-)?gzip\s*(;\s*q=(?!0(\.0*)?\s*$)|$)/i.test(coding));
}

/** Whether `If-None-Match` names what would be sent. */
function has(known: string, etag: string): boolean {
  return known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}

export interface InternalUiDeps {
  readonly mounts: MountTable;
  /** Undefined for what is no token, or none that is good at this address. */
  aclOfToken(token: string, remoteAddress: string): Promise<Acl | undefined>;
}

/** `sys/internal/…`: what command lines and user interfaces ask before they do anything. */
export function internalUiPaths({ mounts, aclOfToken }: InternalUiDeps): AnyPath[] {
  const documents = new ApiDocuments();
  const callerAcl = async (req: object): Promise<Acl | undefined> => {
    const { token, remoteAddress = '' } = internalOf(req).request;
    return token ? aclOfToken(token, remoteAddress) : undefined;
  };
  const short = (mount: Mount): Answered<Static<typeof OpenMount>> => ({
    type: mount.type,
    description: mount.record.description,
    options: mount.record.options,
  });
  const shown = (mount: Mount): string => (mount.class === 'auth' ? mount.path.slice('auth/'.length) : mount.path);
  return [
    path('internal/ui/mounts', {
      synopsis: 'The mounts that the caller can reach.',
      description: 'Those with listing_visibility unauth are shown to everybody, and whole to who has a token.',
      access: 'unauthenticated',
      fields: {},
    }).read({
      summary: 'Lists reachable mounts.',
      response: Type.Object({ auth: ReachableMounts, secret: ReachableMounts }),
      handle: async (req) => {
        const acl = await callerAcl(req);
        const lists: Record<'secret' | 'auth', Record<string, Answered<Static<typeof ReachableMount>>>> = { auth: {}, secret: {} };
        for (const mount of mounts.all()) {
          if (mount.ofSystem) continue;
          const open = mount.record.config.listing_visibility === 'unauth';
          if (acl && (open || acl.reaches(mount.path))) lists[mount.class][shown(mount)] = mountData(mount);
          else if (open) lists[mount.class][shown(mount)] = short(mount);
        }
        return { data: lists };
      },
    }),
    path('internal/ui/mounts/{path:all}', {
      synopsis: 'The mount that owns a path.',
      description: 'For callers who may do anything below that mount.',
      access: 'unauthenticated',
      fields: { path: f.name('The path.') },
    }).read({
      summary: 'Shows the mount of a path.',
      response: PlacedMount,
      handle: async (req) => {
        const acl = await callerAcl(req);
        if (!acl) throw new TokenRefused();
        const found = mounts.route(req.data.path);
        if (!found || !acl.reaches(found.mount.path)) {
          const asked = req.data.path.endsWith('/') ? req.data.path : `${req.data.path}/`;
          throw new TokenRefused(
            `preflight capability check returned 403, please ensure client's policies grant access to path "${asked}"`,
          );
        }
        return { data: { ...mountData(found.mount), path: found.mount.path } };
      },
    }),
    path('internal/ui/namespaces', {
      synopsis: 'The namespaces below that of the caller: there are none.',
      description: 'For callers with any token.',
      access: 'unauthenticated',
      fields: {},
    }).read({
      summary: 'Lists namespaces.',
      response: Type.Object({ keys: Type.Optional(Type.Array(Type.String())) }),
      handle: async (req) => {
        if (!(await callerAcl(req))) throw new TokenRefused();
        return { data: {} };
      },
    }),
    path('internal/ui/feature-flags', {
      synopsis: 'Features of a user interface: there are none to switch.',
      description: 'Kept for clients that ask.',
      access: 'unauthenticated',
      fields: {},
    }).read({
      summary: 'Lists feature flags.',
      response: rawAnswer('application/json', Type.Object({ feature_flags: Type.Array(Type.String()) })),
      handle: async () => ({ raw: { contentType: 'application/json', body: '{"feature_flags":[]}\n' } }),
    }),
    path('internal/ui/resultant-acl', {
      synopsis: "The caller's policies, merged.",
      description: 'What a user interface hides by.',
      fields: {},
    }).read({
      summary: 'Shows the merged policies.',
      response: ResultantPolicies,
      handle: async (req) => ({ data: internalOf(req).acl!.resultant() }),
    }),
    path('internal/specs/openapi', {
      synopsis: 'The OpenAPI document of everything mounted.',
      description:
        'Only what the caller can reach. The answer has an `ETag`, honours `If-None-Match`, and is compressed for those who accept gzip.',
      access: 'unauthenticated',
      fields: { generic_mount_paths: f.bool('Accepted.'), context: f.string('Accepted.') },
    }).read({
      summary: 'OpenAPI.',
      response: rawAnswer('application/json'),
      answers: { 304: NoContent },
      handle: async (req) => {
        const acl = await callerAcl(req);
        const reachable = acl ? mounts.all().filter((mount) => acl.reaches(mount.path)) : [];
        const document = await documents.of(reachable.map((mount) => ({ prefix: mount.path, paths: mount.router?.paths ?? NO_PATHS })));
        // What is wrapped is stored, and unwrapped by whoever.
        const zipped = !internalOf(req).request.wrapTtl && takesGzip(String(req.headers['accept-encoding'] ?? ''));
        const etag = zipped ? `${document.etag.slice(0, -1)}-gzip"` : document.etag;
        const headers = { 'Cache-Control': 'private, no-cache', ETag: etag, Vary: 'Accept-Encoding, Authorization, X-Vault-Token' };
        if (has(String(req.headers['if-none-match'] ?? ''), etag)) {
          return { status: 304, headers, raw: { contentType: 'application/json', body: '' } };
        }
        return zipped
          ? { headers: { ...headers, 'Content-Encoding': 'gzip' }, raw: { contentType: 'application/json', body: document.gzip } }
          : { headers, raw: { contentType: 'application/json', body: await document.plain() } };
      },
    }),
  ];
}
