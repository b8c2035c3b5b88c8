import { BadRequest, f, InvalidRequest, path, PermissionDenied, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { admittedPath } from '../../kernel/call/admitted-path.ts';
import type { PathFolds } from '../../kernel/mounts/path-router.ts';
import { internalOf } from '../../services/caller/internal-request.ts';
import { policiesOf, type TokenAccess } from '../../services/caller/token-access.ts';
import { concealed, type AclExplanation } from '../../services/policies/acl-explanation.ts';
import type { Acl } from '../../services/policies/acl.ts';
import type { PolicyOperation } from '../../services/policies/capability.ts';
import { parsePolicy, type Policy } from '../../services/policies/policy.ts';
import type { PolicyStore } from '../../services/policies/policy-store.ts';

export interface PolicyExplanationDeps {
  readonly access: TokenAccess;
  readonly policies: PolicyStore;
  /** Whether the path asks for the sudo capability besides the operation's own. */
  needsSudo(path: string): boolean;
  /** The path as policies see it. @throws BadRequest for what is no path */
  canonical(path: string, operation: PolicyOperation): { readonly path: string; readonly folds?: PathFolds };
}

/** What policies can be asked about. */
export const ASKED_OPERATIONS = [
  'create',
  'read',
  'update',
  'patch',
  'delete',
  'list',
  'scan',
] as const satisfies readonly PolicyOperation[];

/** The call that somebody asks about. */
export const askedFields = {
  path: f.string('The path of the call, without /v1/.', { required: true }),
  operation: f.string(`The call: ${ASKED_OPERATIONS.join(', ')}.`, { default: 'read' }),
};

const Source = Type.Object({
  policy: Type.String(),
  line: Type.Integer({ description: 'Of the block, in the text of the policy, from 1.' }),
  column: Type.Integer(),
  capabilities: Type.Array(Type.String()),
});
const Rule = Type.Object({
  path: Type.String({ description: 'As the policy writes it.' }),
  policies: Type.Array(Type.String()),
  capabilities: Type.Array(Type.String()),
  sources: Type.Array(Source, { description: 'Where the rule is written.' }),
});
const Explanation = Type.Object({
  operation: Type.String(),
  path: Type.String({ description: 'As policies see it.' }),
  allowed: Type.Boolean(),
  reason: Type.String(),
  sudo: Type.Boolean({ description: 'Whether the rule grants sudo.' }),
  sudo_required: Type.Optional(Type.Boolean({ description: 'Whether the path needs sudo.' })),
  rule: Type.Optional(Rule),
  missing: Type.Optional(Type.String({ description: 'The capability that is missing.' })),
  nearest: Type.Optional(Rule),
  suggestion: Type.Optional(Type.String({ description: 'A block that would allow the call.' })),
});

/** What is asked about, read. @throws BadRequest */
export function askedCall(data: { readonly path: string; readonly operation: string }): { path: string; operation: PolicyOperation } {
  const operation = ASKED_OPERATIONS.find((known) => known === data.operation);
  if (!operation) throw new BadRequest(`operation must be one of ${ASKED_OPERATIONS.join(', ')}`);
  const bare = data.path.replace(/^\/+/, '').replace(/^v1\//, '');
  if (bare === '') throw new BadRequest('path must not be empty');
  return { path: bare, operation };
}

/** `sys/policies/explain` and `sys/policies/explain-self`: why a call is allowed or refused. */
export function policyExplanationPaths({ access, policies, needsSudo, canonical }: PolicyExplanationDeps): AnyPath[] {
  const draftOf = async (text: string, name: string): Promise<Policy> => {
    const saved = await policies.get(name);
    return parsePolicy(name, text, {
      allowWildcards: saved?.allow_wildcards_in_identity_templates ?? false,
      allowSlashes: saved?.allow_slashes_in_identity_templates ?? false,
    });
  };

  const ownCanonical = (bare: string, operation: PolicyOperation): ReturnType<PolicyExplanationDeps['canonical']> => {
    const path = admittedPath(bare, operation);
    try {
      return canonical(bare, operation);
    } catch (error) {
      if (error instanceof BadRequest) return { path };
      throw error;
    }
  };

  return [
    path('policies/explain', {
      synopsis: 'Why a call would be allowed or refused.',
      description:
        'Names the rule that decides, where it is written, what is missing, and a block that would allow the call. Nothing is called. ' +
        'Whose call it is: that of token, of accessor, or of anybody who has the policies and no identity; left out, the calling token. ' +
        'A draft is judged as if it were saved: in place of the policy of its name, or alone where nobody is named.',
      fields: {
        ...askedFields,
        token: f.secret('The token that would call.'),
        accessor: f.string('The accessor of the token that would call. Needs update on auth/token/lookup-accessor.'),
        policies: f.commaStrings('Names of policies that the caller has. Needs read on sys/policies/acl/<name> for each.'),
        draft: f.string('A policy that is not saved: HCL, JSON, or base64 of either.'),
        name: f.string('The name of the draft: it stands in for the saved policy of that name.'),
      },
    }).update({
      summary: 'Explains an access decision.',
      response: Explanation,
      handle: async (req) => {
        const { data } = req;
        const caller = internalOf(req).acl!;
        const { path: bare, operation } = askedCall(data);
        const { path: asked, folds } = canonical(bare, operation);
        const whose = [data.token, data.accessor, data.policies?.length].filter(Boolean).length;
        if (whose > 1) throw new BadRequest('only one of token, accessor and policies can be given');
        if (data.draft === undefined && data.name !== undefined) throw new BadRequest('name is the name of a draft, and there is none');
        if (data.draft === '') throw new BadRequest('draft must not be empty');
        const mayRead = (policy: string): boolean => caller.check({ operation: 'read', path: `sys/policies/acl/${policy}` }).allowed;
        const warnings: string[] = [];
        const draft = data.draft === undefined ? undefined : await draftOf(data.draft, (data.name ?? 'draft').toLowerCase());

        let acl: Acl | undefined;
        if (data.policies?.length || (draft && whose === 0)) {
          const names = [...new Set((data.policies ?? []).map((name) => name.trim().toLowerCase()))];
          const hidden = names.find((name) => name !== draft?.name && !mayRead(name));
          if (hidden !== undefined)
            throw new PermissionDenied(`permission denied: policies: the policy ${JSON.stringify(hidden)} is not yours to read`);
          for (const name of names)
            if (name !== draft?.name && !(await policies.policyExists(name))) warnings.push(`there is no policy ${JSON.stringify(name)}`);
          acl = draft ? await policies.aclWithDraft([...new Set([...names, draft.name])], draft) : await policies.aclFor(names);
        } else if (data.token || data.accessor) {
          if (data.accessor && !caller.check({ operation: 'update', path: 'auth/token/lookup-accessor' }).allowed)
            throw new PermissionDenied('permission denied: accessor: needs update on auth/token/lookup-accessor');
          const by = data.token ? { token: data.token } : { accessor: data.accessor! };
          if (draft && data.name === undefined) throw new BadRequest('name must say which policy of the token the draft stands in for');
          if (draft) {
            const judged = await access.aclWithDraft(by, draft);
            if (judged && !judged.counts)
              warnings.push(`the token does not have the policy ${JSON.stringify(draft.name)}, so the draft does not count`);
            acl = judged?.acl;
          } else acl = 'token' in by ? await access.aclOfToken(by.token) : await access.aclOfAccessor(by.accessor);
          if (!acl) throw new InvalidRequest(`invalid ${data.token ? 'token' : 'accessor'}`);
        } else acl = caller;

        const explained = explain(acl, operation, asked, folds, needsSudo(asked));
        const shown = data.accessor ? concealed(explained, (policy) => policy === draft?.name || mayRead(policy)) : explained;
        return { data: shown, ...(warnings.length === 0 ? {} : { warnings }) };
      },
    }),

    path('policies/explain-self', {
      synopsis: 'Why a call with the calling token would be allowed or refused.',
      description:
        'As policies/explain, for the calling token alone, and of its own policies alone: of a rule that bounds the token from its maker it says that there is one. ' +
        'The default policy allows it.',
      fields: askedFields,
    }).update({
      summary: "Explains an access decision about the caller's own token.",
      response: Explanation,
      handle: async (req) => {
        const { acl, identity } = internalOf(req);
        const { path: bare, operation } = askedCall(req.data);
        const own = new Set(identity ? policiesOf(identity) : []);
        const shown = (explained: Explained): Explained => concealed(explained, (policy) => own.has(policy));
        const { path: asked, folds } = ownCanonical(bare, operation);
        const explained = explain(acl!, operation, asked, folds, needsSudo(asked));
        if (explained.allowed || explained.rule || asked.startsWith('sys/')) return { data: shown(explained) };
        // Where the caller has no rule, the answer does not tell what is mounted there: neither how it folds names nor what it guards.
        return { data: shown(acl!.explain(operation, admittedPath(bare, operation))) };
      },
    }),
  ];
}

type Explained = AclExplanation & { readonly sudo_required?: boolean };

function explain(acl: Acl, operation: PolicyOperation, asked: string, folds: PathFolds | undefined, sudo: boolean): Explained {
  return { ...acl.explain(operation, asked, { folds, needsSudo: sudo }), sudo_required: sudo };
}
