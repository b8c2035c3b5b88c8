import type { CliIo, ServerModule } from './cli-io.ts';

/** The server is loaded by the commands that run it, and by no other. */
export async function loadServer(io: CliIo): Promise<ServerModule> {
  if (io.loadServer) return io.loadServer();
  const specifier: string = '@strongroom/server';
  return (await import(specifier)) as ServerModule;
}
