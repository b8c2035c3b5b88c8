import { useQuery } from '@tanstack/react-query';
import { DOCUMENT, readDocument } from './openapi.ts';
import { declaredPaths, type DeclaredPath } from './policy-patterns.ts';
import { send } from './send.ts';
import { token } from './token.ts';

/** Every path that the token can reach, from the OpenAPI document, which is read once. */
export function useDeclaredPaths(enabled: boolean): readonly DeclaredPath[] {
  const { data } = useQuery({
    queryKey: ['declared-paths', token.current() ?? ''],
    enabled,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const { body } = await send('GET', DOCUMENT, { signal });
      return declaredPaths(readDocument(body));
    },
  });
  return data ?? [];
}
