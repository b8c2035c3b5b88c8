import { BadRequest, f, InvalidRequest, path, type AnyPath, type EngineRequest } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { PathFolds } from '../../kernel/mounts/path-router.ts';
import type { Acl } from '../../services/policies/acl.ts';

export interface CapabilityPathDeps {
  /** Undefined for a token that is unknown or expired. */
  aclOfToken(token: string): Promise<Acl | undefined>;
  aclOfAccessor(accessor: string): Promise<Acl | undefined>;
  aclOfCaller(req: EngineRequest): Promise<Acl>;
  /** The path as policies see it; undefined for what is no path. */
  canonical(path: string): { readonly path: string; readonly folds?: PathFolds } | undefined;
}

const paths = {
  paths: f.commaStrings('The paths to ask about, without /v1/.'),
  path: f.commaStrings('The older name of paths.', { deprecated: true }),
};
const Capabilities = Type.Record(Type.String(), Type.Array(Type.String()), { description: 'By path.' });
const description =
  'Answers, for each path, the capabilities of the policies; "capabilities" repeats the answer when one path is asked about.';

/** `sys/capabilities`, `sys/capabilities-self` and `sys/capabilities-accessor`. */
export function capabilityPaths({ aclOfToken, aclOfAccessor, aclOfCaller, canonical }: CapabilityPathDeps): AnyPath[] {
  const answer = (acl: Acl, asked: readonly string[]): { data: Record<string, string[]> } => {
    const found = asked.map((path) => {
      const one = canonical(path);
      if (!one && !acl.root) return [path, ['deny'] as string[]] as const;
      return [path, acl.capabilities(one?.path ?? path, one?.folds)] as const;
    });
    const single = found.length === 1 ? [['capabilities', found[0]![1]] as const] : [];
    return { data: Object.fromEntries([...single, ...found]) };
  };
  return [
    path('capabilities', {
      synopsis: 'What a token may do on some paths.',
      description,
      fields: { token: f.secret('The token to ask about.'), ...paths },
    }).update({
      summary: 'Looks up what a token may do.',
      response: Capabilities,
      handle: async (req) => {
        const asked = askedPaths(req.data);
        if (!req.data.token) throw new InvalidRequest('missing token');
        return answer(await known(aclOfToken(req.data.token), 'token'), asked);
      },
    }),
    path('capabilities-self', { synopsis: 'What the calling token may do on some paths.', description, fields: paths }).update({
      summary: 'Looks up what the caller may do.',
      response: Capabilities,
      handle: async (req) => {
        const asked = askedPaths(req.data);
        return answer(await aclOfCaller(req as EngineRequest), asked);
      },
    }),
    path('capabilities-accessor', {
      synopsis: 'What the token of an accessor may do on some paths.',
      description,
      fields: { accessor: f.string('The accessor of the token to ask about.'), ...paths },
    }).update({
      summary: 'Looks up what the token of an accessor may do.',
      response: Capabilities,
      handle: async (req) => {
        const asked = askedPaths(req.data);
        if (!req.data.accessor) throw new BadRequest('missing accessor');
        return answer(await known(aclOfAccessor(req.data.accessor), 'accessor'), asked);
      },
    }),
  ];
}

function askedPaths(data: { readonly paths: string[] | undefined; readonly path: string[] | undefined }): string[] {
  const asked = data.paths?.length ? data.paths : (data.path ?? []);
  if (asked.length === 0) throw new BadRequest('paths must be supplied');
  return asked;
}

async function known(found: Promise<Acl | undefined>, what: 'token' | 'accessor'): Promise<Acl> {
  const acl = await found;
  if (!acl) throw new InvalidRequest(`invalid ${what}`);
  return acl;
}
