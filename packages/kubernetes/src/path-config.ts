import { BadRequest, NoContent, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { hostWarnings, trustedCa, type PodEnvironment } from '@strongroom/kubernetes-client';
import { Type } from 'typebox';
import { bearerOf, NO_TOKEN, type Cluster } from './cluster.ts';
import { configFields, writtenConfig } from './config.ts';
import { CONFIG, recordsIn } from './records.ts';

export function configPaths(host: EngineHost, cluster: Cluster, environment: PodEnvironment): readonly AnyPath[] {
  const { pod } = cluster;
  const config = path('config', {
    synopsis: 'The connection to the API server.',
    description:
      'A write changes the parameters that it sends. A write that sends the stored service_account_jwt to another server must include it, or the caller ' +
      'needs sudo on this path. A read never shows it.',
    fields: configFields,
  })
    .read({
      summary: 'Read the configuration.',
      response: Type.Object({ kubernetes_host: Type.String(), kubernetes_ca_cert: Type.String(), disable_local_ca_jwt: Type.Boolean() }),
      handle: async (req) => {
        const record = await recordsIn(req.storage).config.get(CONFIG);
        if (!record) return undefined;
        const { service_account_jwt: _secret, ...shown } = record;
        return { data: shown };
      },
    })
    .update({
      summary: 'Configure the engine.',
      response: NoContent,
      handle: async (req) => {
        const written = await req.storage.transaction(async (tx) => {
          const { config: configs } = recordsIn(tx);
          const next = writtenConfig(await configs.get(CONFIG), req.data, environment, req.caller.sudo);
          await trustedCa(next, pod);
          await configs.put(CONFIG, next);
          return next;
        });
        // What was wrong may be mended.
        await host.retry(cluster.target);
        const warnings = hostWarnings(written.kubernetes_host);
        if ((await bearerOf(written, pod)) === undefined) warnings.push(NO_TOKEN);
        return warnings.length > 0 ? { warnings } : undefined;
      },
    })
    .delete({
      summary: 'Delete the configuration. Objects of leases stay in the cluster until it is configured again.',
      response: NoContent,
      handle: async (req) => {
        await recordsIn(req.storage).config.delete(CONFIG);
        return undefined;
      },
    });

  const check = path('check', {
    synopsis: 'Whether this server runs in a pod.',
    description:
      "Looks for the environment variables and the files that Kubernetes gives to a pod, with which the engine's configuration may be left empty.",
    fields: {},
  }).read({
    summary: 'Check the pod.',
    response: NoContent,
    handle: async () => {
      const missing = environment.missing();
      if (missing.length > 0) throw new BadRequest(`Missing environment variables: ${missing.join(', ')}`);
      const files = [(await pod.ca()) === undefined ? 'ca.crt' : '', (await pod.token()) === undefined ? 'token' : ''].filter(
        (file) => file !== '',
      );
      if (files.length > 0) throw new BadRequest(`Missing files in ${pod.folder}: ${files.join(', ')}`);
      return { status: 204 };
    },
  });
  return [config, check];
}
