import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { DeclaredPath } from '../../api/policy-patterns.ts';

const CAPABILITIES = ['create', 'read', 'update', 'patch', 'delete', 'list', 'scan', 'sudo', 'deny'];
const KEYS: readonly (readonly [key: string, about: string])[] = [
  ['capabilities', 'what may be done'],
  ['allowed_parameters', 'only these parameters, with these values'],
  ['denied_parameters', 'none of these parameters'],
  ['required_parameters', 'all of these parameters'],
  ['min_wrapping_ttl', 'answers must be wrapped at least so long'],
  ['max_wrapping_ttl', 'answers must be wrapped at most so long'],
  ['pagination_limit', 'most entries of a list'],
  ['expiration', 'from then on the block does not count'],
  ['comment', 'a remark'],
];

/** Completes what policies are made of: paths of this server in `path "…"`, capabilities in their list, and keys. */
export function policyCompletion(paths: readonly DeclaredPath[]): (context: CompletionContext) => CompletionResult | null {
  const declared: Completion[] = paths.map(({ pattern, about }) => ({ label: pattern, detail: about }));
  return (context) => {
    const { text, from } = context.state.doc.lineAt(context.pos);
    const before = text.slice(0, context.pos - from);
    const path = /^\s*(?:path\s+|"path"\s*:\s*\{\s*)"([^"]*)$/.exec(before);
    if (path) return { from: context.pos - path[1]!.length, options: declared, validFor: /^[^"]*$/ };
    const list = /capabilities"?\s*[=:]\s*\[[^\]]*?(")?([a-z]*)$/.exec(before);
    if (list) {
      const options = CAPABILITIES.map((label) => ({ label, ...(list[1] ? {} : { apply: `"${label}"` }) }));
      return { from: context.pos - list[2]!.length, options, validFor: /^[a-z]*$/ };
    }
    const key = /^\s+([a-z_]+)$/.exec(before);
    if (key)
      return {
        from: context.pos - key[1]!.length,
        options: KEYS.map(([label, detail]) => ({ label, detail, apply: `${label} = ` })),
        validFor: /^[a-z_]*$/,
      };
    const block = /^(p[a-z]*)$/.exec(before);
    if (block) return { from, options: [{ label: 'path', detail: 'a block', apply: 'path "' }], validFor: /^[a-z]*$/ };
    return null;
  };
}
