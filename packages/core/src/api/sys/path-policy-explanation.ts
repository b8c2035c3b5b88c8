import { BadRequest, f, InvalidRequest, path, type AnyPath } from '@strongroom/engine-sdk';
import type { PathFolds } from '../../kernel/mounts/path-router.ts';
import type { Acl } from '../../services/policies/acl.ts';
import type { PolicyOperation } from '../../services/policies/capability.ts';
import { internalOf } from '../../services/caller/internal-request.ts';

export interface PolicyExplanationDeps {
  /** Undefined for a token that is unknown or expired. */
  aclOfToken(token: string): Promise<Acl | undefined>;
  /** Whether the path asks for the sudo capability besides the operation's own. */
  needsSudo(path: string): boolean;
  /** The path as policies see it. @throws BadRequest for what is no path */
  canonical(path: string, operation: PolicyOperation): { readonly path: string; readonly folds?: PathFolds };
}

const OPERATIONS: readonly PolicyOperation[] = ['create', 'read', 'update', 'patch', 'delete', 'list', 'scan'];

/** `sys/policies/explain`: why a call is allowed or refused. */
export function policyExplanationPaths({ aclOfToken, needsSudo, canonical }: PolicyExplanationDeps): AnyPath[] {
  return [
    path('policies/explain', {
      synopsis: 'Why a call would be allowed or refused.',
      description: 'Names the rule that decides, what is missing, and a block that would allow the call. Nothing is called.',
      fields: {
        path: f.string('The path of the call, without /v1/.', { required: true }),
        operation: f.string(`The call: ${OPERATIONS.join(', ')}.`, { default: 'read' }),
        token: f.secret('The token that would call; left out, the calling one.'),
      },
    }).update({
      summary: 'Explains an access decision.',
      handle: async (req) => {
        const { data } = req;
        const operation = OPERATIONS.find((known) => known === data.operation);
        if (!operation) throw new BadRequest(`operation must be one of ${OPERATIONS.join(', ')}`);
        const bare = data.path.replace(/^\/+/, '').replace(/^v1\//, '');
        if (bare === '') throw new BadRequest('path must not be empty');
        const { path: asked, folds } = canonical(bare, operation);
        const acl = data.token ? await aclOfToken(data.token) : internalOf(req).acl!;
        if (!acl) throw new InvalidRequest('invalid token');
        const explained = acl.explain(operation, asked, { folds });
        const sudoNeeded = needsSudo(asked);
        if (!sudoNeeded || !explained.allowed || explained.sudo) return { data: { ...explained, sudo_required: sudoNeeded } };
        return {
          data: {
            ...explained,
            sudo_required: true,
            allowed: false,
            reason: `${explained.reason}, but the path needs sudo as well`,
            missing: 'sudo',
          },
        };
      },
    }),
  ];
}
