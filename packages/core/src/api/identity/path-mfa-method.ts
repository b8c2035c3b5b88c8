import { type AnyPath, BadRequest, f, NoContent, NotFound, orNoContent, pageFields, path } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { listedWith, slicedListing } from '../../services/identity/identity-data.ts';
import { internalOf } from '../../services/caller/internal-request.ts';
import { TotpMethod } from '../../services/mfa/mfa-settings.ts';
import type { TotpMethodOrder, TotpMethods } from '../../services/mfa/totp-methods.ts';
import type { NewSecret, TotpSecrets } from '../../services/mfa/totp-secrets.ts';

export const methodFields = {
  method_name: f.string('A name that callers can use instead of the id.'),
  issuer: f.string('The issuer that authenticator apps show.', { default: '' }),
  period: f.duration('How long each code is valid.', { default: 30 }),
  key_size: f.int('Size of secrets in bytes.', { default: 20 }),
  qr_size: f.int('Width of the QR code in pixels; 0 means no QR code.', { default: 200 }),
  algorithm: f.string('SHA1, SHA256 or SHA512. Many authenticator apps support only SHA1.', { default: 'SHA1' }),
  digits: f.int('Number of digits of a code: 6 or 8.', { default: 6 }),
  skew: f.int('Number of periods before and after the current one whose codes are accepted: 0 or 1.', { default: 1 }),
  max_validation_attempts: f.int('Number of consecutive wrong codes after which the entity must wait.', { default: 5 }),
} as const;

const Method = Type.Object({
  ...TotpMethod.properties,
  type: Type.String(),
  namespace_id: Type.String(),
  namespace_path: Type.String(),
});
const Made = orNoContent(
  Type.Object({
    url: Type.String({ description: 'The secret as an otpauth:// address.', secret: true }),
    barcode: Type.String({ description: 'A PNG of its QR code, base64; empty where the method makes none.', secret: true }),
  }),
);

interface MethodBody extends Omit<TotpMethodOrder, 'name'> {
  readonly method_name: string | undefined;
}

const methodId = f.name('Id of the method.');
const methodField = f.string('Id of the method.', { default: '' });
const entityField = f.string('Id of the entity.', { default: '' });

/** Second factors that call an outside service: named, so that whoever asks for one learns that it is not offered. */
const ABSENT = ['duo', 'okta', 'pingid'] as const;

/** `identity/mfa/method/…`: ways to prove a second factor, and the secrets that entities have for them. */
export function mfaMethodPaths({ methods, secrets }: { readonly methods: TotpMethods; readonly secrets: TotpSecrets }): AnyPath[] {
  const list = async (page: { after: string | undefined; limit: number | undefined }) =>
    slicedListing(
      (await methods.list())
        .map((method): [string, Static<typeof Method>] => [method.id, methodData(method)])
        .sort(([a], [b]) => (a < b ? -1 : 1)),
      page,
    );
  const read = async (id: string) => {
    const method = await methods.get(id);
    return method && { data: methodData(method) };
  };

  return [
    path('mfa/method', { synopsis: 'MFA methods.', description: 'Lists the methods of all types by id.', fields: pageFields }).list({
      summary: 'List MFA methods',
      response: listedWith(Method),
      handle: async ({ data }) => list(data),
    }),

    path('mfa/method/{id}', {
      synopsis: 'One MFA method by its id.',
      description: 'Returns a method of any type.',
      fields: { id: methodId },
    }).read({ summary: 'Read an MFA method', response: Method, handle: async ({ data }) => read(data.id) }),

    path('mfa/method/totp', {
      synopsis: 'Configure TOTP methods.',
      description:
        'A write with the name of an existing method replaces its parameters, except name and id. Otherwise, it creates a method.',
      fields: { ...pageFields, ...methodFields },
    })
      .list({ summary: 'List TOTP methods', response: listedWith(Method), handle: async ({ data }) => list(data) })
      .update({
        summary: 'Create or update a TOTP method',
        response: Type.Object({ method_id: Type.String() }),
        handle: async ({ data }) => ({ data: { method_id: await methods.save(undefined, orderOf(data)) } }),
      }),

    path('mfa/method/totp/{id}', {
      synopsis: 'Configure a TOTP method.',
      description:
        'A write replaces all parameters except name and id. Existing secrets keep their parameters, except skew and max_validation_attempts.',
      fields: { id: methodId, ...methodFields },
    })
      .read({ summary: 'Read a TOTP method', response: Method, handle: async ({ data }) => read(data.id) })
      .update({
        summary: 'Update a TOTP method',
        response: NoContent,
        handle: async ({ data }) => {
          await methods.save(data.id, orderOf(data));
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a TOTP method that no enforcement uses',
        response: NoContent,
        handle: async ({ data }) => {
          await methods.remove(data.id);
          return undefined;
        },
      }),

    path('mfa/method/totp/generate', {
      synopsis: 'Generate a TOTP secret for the calling entity.',
      description: 'Returns the secret, which cannot be read again. If the entity already has one, the response has no data.',
      fields: { method_id: methodField },
    }).update({
      summary: 'Generate a TOTP secret for the calling entity',
      response: Made,
      handle: async (req) => answer(await secrets.generate(req.data.method_id, internalOf(req).identity?.entityId ?? '')),
    }),

    path('mfa/method/totp/admin-generate', {
      synopsis: 'Generate a TOTP secret for an entity.',
      description:
        'Returns the secret, which cannot be read again. If the entity already has one, the response has no data; remove it with admin-destroy first.',
      fields: { method_id: methodField, entity_id: entityField },
    }).update({
      summary: 'Generate a TOTP secret for an entity',
      response: Made,
      handle: async ({ data }) => answer(await secrets.generate(data.method_id, data.entity_id)),
    }),

    path('mfa/method/totp/admin-destroy', {
      synopsis: 'Remove the TOTP secret of an entity.',
      description: 'The entity can then get a new secret. Succeeds if the entity has none.',
      fields: { method_id: methodField, entity_id: entityField },
    }).update({
      summary: 'Remove the TOTP secret of an entity',
      response: NoContent,
      handle: async ({ data }) => {
        await secrets.destroy(data.method_id, data.entity_id);
        return undefined;
      },
    }),

    ...ABSENT.flatMap(absentMethodPaths),
  ];
}

/** The list is empty, reads and deletions find nothing, and writes say what is offered. */
function absentMethodPaths(type: (typeof ABSENT)[number]): AnyPath[] {
  const about = { synopsis: `Methods of type ${type} are not supported.`, description: 'Use methods of type totp.' };
  const refuse = async (): Promise<never> => {
    throw new BadRequest(`MFA methods of type ${type} are not offered: use totp`);
  };
  return [
    path(`mfa/method/${type}`, { ...about, arbitraryData: true, fields: pageFields })
      .list({ summary: `List ${type} methods (not supported)`, response: NoContent, handle: async () => Promise.reject(new NotFound()) })
      .update({ summary: 'Refused', response: NoContent, handle: refuse }),
    path(`mfa/method/${type}/{id}`, { ...about, arbitraryData: true, fields: { id: methodId } })
      .read({
        summary: 'Refused',
        response: NoContent,
        handle: async () => Promise.reject(new BadRequest(`failed to find the method ID under MFA type ${type}.`)),
      })
      .update({ summary: 'Refused', response: NoContent, handle: refuse })
      .delete({ summary: 'Removes nothing', response: NoContent, handle: async () => undefined }),
  ];
}

export function orderOf({ method_name, ...order }: MethodBody): TotpMethodOrder {
  const { issuer, period, key_size, qr_size, algorithm, digits, skew, max_validation_attempts } = order;
  return { name: method_name || undefined, issuer, period, key_size, qr_size, algorithm, digits, skew, max_validation_attempts };
}

function methodData(method: TotpMethod): Static<typeof Method> {
  return { ...method, type: 'totp', namespace_id: 'root', namespace_path: '' };
}

function answer({ method, made }: { method: TotpMethod; made: NewSecret | undefined }): { data?: NewSecret; warnings?: string[] } {
  if (made) return { data: made };
  return { warnings: [`Entity already has a secret for MFA method ${JSON.stringify(method.name)}`] };
}
