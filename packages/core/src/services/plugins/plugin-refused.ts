/** A plugin that cannot be used by this server; nothing of it has run. */
export class PluginRefused extends Error {
  override readonly name = 'PluginRefused';
  constructor(plugin: string, reason: string) {
    super(`plugin ${plugin}: ${reason}`);
  }
}
