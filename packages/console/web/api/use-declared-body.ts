import { useEffect, useMemo, useState } from 'react';
import { declaredItem } from './engine-paths.ts';
import { bodyOf, resolved, useApiDocument, type Schema } from './openapi.ts';

/** What a write of a path takes. */
export interface DeclaredBody {
  readonly schema: Schema;
  /** Further fields, by the value of the field that `schema.discriminator` names. */
  readonly variant: (value: string) => Schema | undefined;
}

/**
 * What a write of a path takes, from the OpenAPI document. The document knows what the token can reach: `data` is null where that does not include the path. One
 * that was read before the path was mounted is read again.
 * @param path encoded
 */
export function useDeclaredBody(path: string) {
  const document = useApiDocument();
  const { data, dataUpdatedAt, refetch } = document;
  const [since] = useState(() => Date.now());
  const found = useMemo((): DeclaredBody | null | undefined => {
    if (!data) return undefined;
    const declared = declaredItem(data, path);
    if (!declared?.post) return null;
    const schema = bodyOf(data, declared.post);
    return {
      schema,
      variant: (value) => {
        const mapping = schema.discriminator?.mapping ?? {};
        return Object.hasOwn(mapping, value) ? resolved(data, { $ref: mapping[value]! }) : undefined;
      },
    };
  }, [data, path]);
  const isOld = found === null && dataUpdatedAt < since;
  useEffect(() => {
    if (isOld) void refetch();
  }, [isOld, refetch]);
  return { ...document, data: isOld ? undefined : found, isPending: document.isPending || isOld };
}
