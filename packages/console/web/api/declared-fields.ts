import { useQuery } from '@tanstack/react-query';
import { send } from './send.ts';

/** A field of a path, as its declaration describes it. */
export interface DeclaredField {
  readonly name: string;
  readonly kind: 'text' | 'secret' | 'lines' | 'boolean' | 'number' | 'list' | 'object' | 'duration' | 'choice';
  readonly description: string;
  readonly values: readonly string[];
  readonly deprecated: boolean;
}

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly { readonly const?: string }[];
  readonly deprecated?: boolean;
  readonly 'x-vault-displayAttrs'?: { readonly sensitive?: boolean };
}

interface Help {
  readonly openapi: {
    readonly paths: Readonly<
      Record<
        string,
        Readonly<
          Record<
            string,
            {
              readonly requestBody?: {
                readonly content: Record<string, { readonly schema: { readonly properties?: Record<string, Schema> } }>;
              };
            }
          >
        >
      >
    >;
  };
}

/** The fields that a write of the path takes. They are read once: a declaration changes with the server alone. */
export function useDeclared(path: string) {
  return useQuery({
    queryKey: ['declared', path],
    queryFn: async ({ signal }) => fieldsOf((await send('GET', path, { query: { help: 1 }, signal })).body as Help),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function fieldsOf({ openapi }: Help): DeclaredField[] {
  const [item] = Object.values(openapi.paths);
  const properties = item?.post?.requestBody?.content['application/json']?.schema.properties ?? {};
  return Object.entries(properties).map(([name, schema]) => {
    const values = schema.enum ?? (schema.anyOf ?? []).flatMap((one) => one.const ?? []);
    return {
      name,
      kind: kindOf(name, schema, values),
      description: schema.description ?? '',
      values,
      deprecated: schema.deprecated === true,
    };
  });
}

/** Texts of several lines, by the names that they have. */
const LINES = /(ldif|certificate|_pem|_cert|_key|pubkey|ca_cert)$|^certificate$/;

function kindOf(name: string, schema: Schema, values: readonly string[]): DeclaredField['kind'] {
  const sensitive = schema['x-vault-displayAttrs']?.sensitive === true;
  if (LINES.test(name) && schema.type === 'string') return 'lines';
  if (sensitive) return 'secret';
  if (values.length > 0) return 'choice';
  if (schema.format === 'duration') return 'duration';
  if (schema.type === 'boolean') return 'boolean';
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  if (schema.type === 'array') return 'list';
  return schema.type === 'object' ? 'object' : 'text';
}
