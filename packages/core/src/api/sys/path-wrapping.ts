import { AnyAnswer, type AnyPath, BadRequest, f, path, Seconds, Timestamp } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { internalOf, reply } from '../../services/caller/internal-request.ts';
import type { Wrapping } from '../../services/wrapping/wrapping.ts';

const token = f.secret('The wrapping token; left out, the one that makes the call.');

const Wrapped = Type.Object({ creation_path: Type.String(), creation_time: Timestamp, creation_ttl: Seconds });

/** `sys/wrapping/…` */
export function wrappingPaths({ wrapping }: { readonly wrapping: Wrapping }): AnyPath[] {
  const tokenOf = (req: { data: { token: string | undefined } }): string => req.data.token || (internalOf(req).request.token ?? '');
  return [
    path('wrapping/wrap', {
      synopsis: 'Puts any data behind a wrapping token.',
      description: 'Sends the data back in a wrapped answer; X-Vault-Wrap-TTL is needed. Fractions of a second round up.',
      arbitraryData: true,
      exactNumbers: true,
      fields: {},
    }).update({
      summary: 'Wraps data.',
      response: Type.Record(Type.String(), Type.Unknown(), { secret: true }),
      handle: async (req) => {
        if (!((internalOf(req).request.wrapTtl ?? 0) > 0)) throw new BadRequest('endpoint requires response wrapping to be used');
        return { data: { ...req.raw } };
      },
    }),
    path('wrapping/lookup', {
      synopsis: 'Tells how a wrapping token was made, without using it up.',
      description: 'Open to whoever holds the token.',
      access: 'unauthenticated',
      fields: { token },
    })
      .read({
        summary: 'Looks up the calling wrapping token.',
        response: Wrapped,
        handle: async (req) => ({ data: await wrapping.lookup(tokenOf(req)) }),
      })
      .update({
        summary: 'Looks up a wrapping token.',
        response: Wrapped,
        handle: async (req) => ({ data: await wrapping.lookup(tokenOf(req)) }),
      }),
    path('wrapping/unwrap', {
      synopsis: 'Gives the wrapped answer; the token is used up.',
      description: 'The answer is the one that was wrapped, with a new request id.',
      fields: { token },
    }).update({ summary: 'Unwraps.', response: AnyAnswer, handle: async (req) => reply(await wrapping.unwrap(tokenOf(req))) }),
    path('wrapping/rewrap', {
      synopsis: 'Puts a wrapped answer behind a new token.',
      description: 'The new token lives as long as the old one did at first, at most the maximum of the system; the old one is used up.',
      fields: { token },
    }).update({ summary: 'Rewraps.', response: AnyAnswer, handle: async (req) => reply(await wrapping.rewrap(tokenOf(req))) }),
  ];
}
