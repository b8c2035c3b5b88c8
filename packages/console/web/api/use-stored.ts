import { useQuery } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';
import { send } from './send.ts';

/** What is stored at a path; `data` is undefined where nothing is, which is an answer and no error. */
export function useStored<T = Readonly<Record<string, unknown>>>(path: string, enabled = true) {
  return useQuery({
    queryKey: [path, 'STORED'],
    enabled,
    queryFn: async ({ signal }): Promise<{ readonly data: T | undefined }> => {
      try {
        return { data: (await send<T>('GET', path, { signal })).data };
      } catch (error) {
        if (error instanceof ApiError && error.status === 404 && error.errors.length === 0) return { data: undefined };
        throw error;
      }
    },
  });
}
