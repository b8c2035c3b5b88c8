import { Text } from '@mantine/core';
import { CommandLines } from '../../parts/command-lines.tsx';
import { allPlots } from '../../parts/figure-plots.ts';
import { FigurePlots } from '../../parts/figures.tsx';
import { ServerFrame } from './server-frame.tsx';

/** The figures of this server over the last day. */
export default function MetricsPage() {
  return (
    <ServerFrame title="Metrics" place="/server/metrics">
      <FigurePlots
        plots={allPlots}
        beside={
          <Text size="sm" c="dimmed">
            Of the server that answers, since its process began. Prometheus reads the figures of each mount.
          </Text>
        }
      />
      <CommandLines
        lines={[
          { with: 'CLI', command: 'strongroom read sys/internal/ui/metrics' },
          { with: 'curl', command: 'curl --header "X-Vault-Token: $STRONGROOM_TOKEN" "$STRONGROOM_ADDR/v1/sys/metrics"' },
        ]}
      />
    </ServerFrame>
  );
}
