import { type AnyPath, f, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { CorsConfig } from '../../services/settings/cors-config.ts';

const Settings = Type.Object({
  enabled: Type.Boolean(),
  allowed_origins: Type.Optional(Type.Array(Type.String())),
  allowed_headers: Type.Optional(Type.Array(Type.String())),
  allow_credentials: Type.Optional(Type.Boolean()),
});

/** `sys/config/cors`. */
export function corsPaths({ cors }: { readonly cors: CorsConfig }): AnyPath[] {
  return [
    path('config/cors', {
      synopsis: 'Which web pages of other origins may call this server.',
      description: 'Off by default. An origin that is not listed is refused.',
      access: 'sudo',
      fields: {
        enable: f.bool('Kept for clients that send it: writing enables.', { default: true }),
        allowed_origins: f.commaStrings('Origins such as https://app.example.com, or * for every one.', { default: [] }),
        allowed_headers: f.commaStrings('Request headers that pages may send beside those that this API defines.', { default: [] }),
        allow_credentials: f.bool('Allow pages to send cookies and client certificates.', { default: false }),
      },
    })
      .read({
        summary: 'Read the CORS settings',
        response: Settings,
        handle: async () => ({ data: cors.settings ? { enabled: true, ...cors.settings } : { enabled: false } }),
      })
      .update({
        summary: 'Allow web pages of other origins',
        response: NoContent,
        handle: async ({ data }) => {
          await cors.enable({ origins: data.allowed_origins, headers: data.allowed_headers, credentials: data.allow_credentials });
          return undefined;
        },
      })
      .delete({
        summary: 'Refuse web pages of other origins',
        response: NoContent,
        handle: async () => {
          await cors.disable();
          return undefined;
        },
      }),
  ];
}
