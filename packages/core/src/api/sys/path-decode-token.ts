import { type AnyPath, BadRequest, f, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { oneTimePad } from '../../services/ceremony/one-time-pad.ts';

/** `sys/decode-token`: what command lines do by themselves, for those that ask. */
export function decodeTokenPath(): AnyPath {
  return path('decode-token', {
    synopsis: 'Decodes a root token with its one-time password.',
    description: 'Open to everybody: it only computes.',
    access: 'unauthenticated',
    fields: { encoded_token: f.secret('The encoded token.'), otp: f.secret('The one-time password.') },
  }).update({
    summary: 'Decodes a token.',
    response: Type.Object({ token: Type.String({ secret: true }) }),
    handle: async ({ data }) => {
      if (!data.encoded_token || !data.otp) throw new BadRequest("provided 'encoded_token' or 'otp' is empty");
      const bytes = Buffer.from(data.encoded_token, 'base64');
      const length = Buffer.byteLength(data.otp);
      if (bytes.length !== length) {
        throw new BadRequest(`error xoring token: length of byte slices is not equivalent: ${bytes.length} != ${length}`);
      }
      return { data: { token: oneTimePad(bytes, data.otp).toString() } };
    },
  });
}
