import { useQuery } from '@tanstack/react-query';
import { declaredPaths, type DeclaredPath, type Document } from './policy-patterns.ts';
import { send } from './send.ts';
import { token } from './token.ts';

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
