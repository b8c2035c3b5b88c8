import { API_VERSION, type RefusedPlugin, type SystemMount } from '@strongroom/engine-sdk';

/** A plugin that could be installed and is not. The error for a request of it names the package to install. */
export interface AbsentPlugin {
  readonly kind: string;
  /** What operators write: a mount type, a `plugin_name`, a type of destination. */
  readonly name: string;
  /** The npm package. */
  readonly package: string;
  /** Of an engine that the server would mount itself. */
  readonly system?: SystemMount;
}

/** The same as a plugin that cannot be used. */
export function refusedAsAbsent({ kind, name, package: from }: AbsentPlugin): RefusedPlugin {
  return { plugin: { kind, name, apiVersion: API_VERSION }, reason: `plugin ${name} is not installed on this server: npm install ${from}` };
}
