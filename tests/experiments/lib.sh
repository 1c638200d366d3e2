# Shared by the experiments: runs go to runs/experiments (RUNS), their rows are printed as they come.
AGON=${AGON:-build/agon}
RUNS=${RUNS:-runs/experiments}
mkdir -p "$RUNS"

train() { # name, configuration, time, options
    name=$1 config=$2 time=$3
    shift 3
    rm -rf "${RUNS:?}/$name"
    echo "-- $name: agon train $config --time $time $*"
    "$AGON" train "$config" --run "$RUNS/$name" --time "$time" "$@"
}
