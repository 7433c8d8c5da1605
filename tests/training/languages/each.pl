# Runs blocks in Perl: reads [{system, setup, run, cases}] as JSON, prints a line of JSON for each case.
use strict; use warnings; no warnings 'once';
use JSON::PP; use Scalar::Util 'blessed';
my $json = JSON::PP->new->canonical->allow_blessed->allow_nonref;
my $blocks = decode_json(do { local $/; <STDIN> });
open(my $out, '>&', \*STDOUT); open(STDOUT, '>&', \*STDERR); $out->autoflush(1);
our %a;
my $n = 0;
for my $block (@$blocks) {
    my $system = $block->{system}; $n++;
    my $run = eval "package Block$n; no strict; no warnings; use vars '%a'; *a = *main::a; $block->{setup}; sub { $block->{run} }";
    if (!$run) { print $out $json->encode({ system => $system, failed => "$@" }), "\n"; next }
    for my $i (0 .. $#{ $block->{cases} }) {
        %a = %{ $block->{cases}[$i] };
        my %row = (system => $system, case => $i);
        my @warned;
        eval { local $SIG{ALRM} = sub { die "alarm\n" }; local $SIG{__WARN__} = sub { push @warned, @_ }; alarm 12; $run->(); alarm 0; 1 } or do {
            my $e = $@; alarm 0;
            $row{exception} = ref $e || undef;
            $row{text} = blessed $e && $e->can('message') ? $e->message : ref $e eq 'HASH' ? $json->encode($e) : "$e";
        };
        $row{text} = undef if ($row{text} // '') eq "alarm\n";
        print $out $json->encode(\%row), "\n";
    }
}
