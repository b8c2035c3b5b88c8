import { useQuery } from '@tanstack/react-query';
import { send } from './send.ts';
import { token } from './token.ts';

/** A path of the API as policies write it, and what it is for. */
export interface DeclaredPath {
  /** `+` stands for a name. */
  readonly pattern: string;
  readonly about: string;
}

interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly summary?: string; readonly description?: string }>>>>;
}

/** Every path that the token can reach, from the OpenAPI document, which is read once. */
export function useDeclaredPaths(enabled: boolean): readonly DeclaredPath[] {
  const { data } = useQuery({
    queryKey: ['declared-paths', token.current() ?? ''],
    enabled,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const { body } = await send('GET', 'sys/internal/specs/openapi', { signal });
      return declaredPaths(body as Document);
    },
  });
  return data ?? [];
}

export function declaredPaths({ paths = {} }: Document): DeclaredPath[] {
  const found = new Map<string, string>();
  for (const [path, operations] of Object.entries(paths)) {
    const pattern = path
      .replace(/^\//, '')
      .replace(/\{[^}]*\}$/, '*')
      .replaceAll(/\{[^}]*\}/g, '+');
    const about = Object.values(operations).find((operation) => typeof operation === 'object' && operation.summary)?.summary ?? '';
    if (!found.has(pattern)) found.set(pattern, about);
  }
  return [...found].map(([pattern, about]) => ({ pattern, about })).sort((a, b) => (a.pattern < b.pattern ? -1 : 1));
}
