# One form in each Perl library that checks forms: reads it and its broken copies as JSON,
# prints a line of JSON for each answer.
use strict; use warnings; no warnings 'once';
use JSON::PP; use Storable 'dclone'; use Scalar::Util 'blessed';

my $in = decode_json(do { local $/; <STDIN> });
my $json = JSON::PP->new->canonical->allow_blessed->allow_nonref;
my %makers;
my ($ref, $email, $day, $url) = (qr/^[A-Z]{2}[0-9]{2}$/, qr/^\S+@\S+\.\S+$/, qr/^\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])$/, qr{^https?://});
sub plain { my %f = %{$_[0]}; $f{paid} = $f{paid} ? 1 : 0 if ref $f{paid}; \%f }

$makers{'JSON::Validator'} = sub {
    require JSON::Validator;
    my $v = JSON::Validator->new->schema($in->{schema});
    sub { my @e = $v->validate($_[0]); @e ? join("\n", @e) : undef }
};
$makers{'Type::Tiny'} = sub {
    require Types::Standard; require Types::Common::String; require Types::Common::Numeric;
    my $ok = eval q{
        package F1; use Types::Standard -types; use Types::Common::Numeric -types; use Types::Common::String -types;
        Dict[title => StrLength[2,12], amount => IntRange[1,50], size => Enum['small','large'], contact => StrMatch[$email], due => StrMatch[$day],
             ref => StrMatch[$ref], labels => ArrayRef[Str,1,3], site => StrMatch[$url], place => Dict[town => Str, code => Str], paid => Bool, price => Num] } or die $@;
    sub { my $f = plain($_[0]); my $e = $ok->validate_explain($f, '$form'); $e ? join("\n", @$e) : undef }
};
$makers{'Type::Params'} = sub {
    my $check = eval q{
        package F2; use Types::Standard -types; use Types::Common::Numeric -types; use Types::Common::String -types; use Type::Params ();
        Type::Params::compile_named(title => StrLength[2,12], amount => IntRange[1,50], size => Enum['small','large'], contact => StrMatch[$email], due => StrMatch[$day],
             ref => StrMatch[$ref], labels => ArrayRef[Str,1,3], site => StrMatch[$url], place => Dict[town => Str, code => Str], paid => Bool, price => Num) } or die $@;
    sub { $check->(%{plain($_[0])}); undef }
};
$makers{'Moose'} = sub {
    eval q{
        package F3::Place; use Moose; use MooseX::StrictConstructor;
        has town => (is => 'ro', isa => 'Str', required => 1); has code => (is => 'ro', isa => 'Str', required => 1);
        package F3; use Moose; use Moose::Util::TypeConstraints; use MooseX::StrictConstructor;
        subtype 'Title', as 'Str', where { length >= 2 && length() <= 12 }, message { "The title must be 2 to 12 characters long" };
        subtype 'Amount', as 'Int', where { $_ >= 1 && $_ <= 50 }; enum 'Size', [qw(small large)];
        subtype 'RefNo', as 'Str', where { /^[A-Z]{2}[0-9]{2}$/ }; subtype 'Labels', as 'ArrayRef[Str]', where { @$_ >= 1 && @$_ <= 3 };
        has title => (is => 'ro', isa => 'Title', required => 1); has amount => (is => 'ro', isa => 'Amount', required => 1);
        has size => (is => 'ro', isa => 'Size', required => 1); has contact => (is => 'ro', isa => 'Str'); has due => (is => 'ro', isa => 'Str');
        has ref => (is => 'ro', isa => 'RefNo', required => 1); has labels => (is => 'ro', isa => 'Labels', required => 1);
        has site => (is => 'ro', isa => 'Str'); has place => (is => 'ro', isa => 'HashRef[Str]', required => 1);
        has paid => (is => 'ro', isa => 'Bool', required => 1); has price => (is => 'ro', isa => 'Num', required => 1); 1 } or die $@;
    sub { F3->new(plain($_[0])); undef }
};
$makers{'Mouse'} = sub {
    eval q{
        package F4; use Mouse; use Mouse::Util::TypeConstraints;
        subtype 'MTitle', as 'Str', where { length($_) >= 2 && length($_) <= 12 }; subtype 'MAmount', as 'Int', where { $_ >= 1 && $_ <= 50 }; enum 'MSize', 'small', 'large';
        has title => (is => 'ro', isa => 'MTitle', required => 1); has amount => (is => 'ro', isa => 'MAmount', required => 1);
        has size => (is => 'ro', isa => 'MSize', required => 1); has labels => (is => 'ro', isa => 'ArrayRef[Str]', required => 1);
        has place => (is => 'ro', isa => 'HashRef[Str]', required => 1); has paid => (is => 'ro', isa => 'Bool', required => 1);
        has price => (is => 'ro', isa => 'Num', required => 1); __PACKAGE__->meta->make_immutable(strict_constructor => 1); 1 } or die $@;
    sub { my $f = plain($_[0]); delete @$f{qw(contact due ref site)}; F4->new($f); undef }
};
$makers{'Moo'} = sub {
    eval q{
        package F5; use Moo; use MooX::StrictConstructor; use Types::Standard qw(Str Int Num Bool Enum ArrayRef Dict); use Types::Common::String qw(StrLength); use Types::Common::Numeric qw(IntRange);
        has title => (is => 'ro', isa => StrLength[2,12], required => 1); has amount => (is => 'ro', isa => IntRange[1,50], required => 1);
        has size => (is => 'ro', isa => Enum['small','large'], required => 1); has $_ => (is => 'ro', isa => Str) for qw(contact due site);
        has ref => (is => 'ro', isa => sub { die "$_[0] does not look like AA00\n" unless $_[0] =~ /^[A-Z]{2}[0-9]{2}$/ }, required => 1);
        has labels => (is => 'ro', isa => ArrayRef[Str,1,3], required => 1); has place => (is => 'ro', isa => Dict[town => Str, code => Str], required => 1);
        has paid => (is => 'ro', isa => Bool, required => 1); has price => (is => 'ro', isa => Num, required => 1); 1 } or die $@;
    sub { F5->new(plain($_[0])); undef }
};
$makers{'Params::Validate'} = sub {
    require Params::Validate; Params::Validate->import(qw(:all));
    my %spec = (title => { type => Params::Validate::SCALAR(), callbacks => { 'between 2 and 12 characters' => sub { length $_[0] >= 2 && length $_[0] <= 12 } } },
        amount => { type => Params::Validate::SCALAR(), regex => qr/^-?\d+$/, callbacks => { 'between 1 and 50' => sub { $_[0] >= 1 && $_[0] <= 50 } } },
        size => { regex => qr/^(?:small|large)$/ }, contact => { regex => $email }, due => { regex => $day }, ref => { regex => $ref },
        labels => { type => Params::Validate::ARRAYREF() }, site => { regex => $url }, place => { type => Params::Validate::HASHREF() },
        paid => { type => Params::Validate::BOOLEAN() }, price => { type => Params::Validate::SCALAR() });
    sub { my @p = %{plain($_[0])}; order_of(\%spec, @p); undef };
};
sub order_of { my $spec = shift; &Params::Validate::validate(\@_, $spec) }
$makers{'Params::ValidationCompiler'} = sub {
    my $check = eval q{
        package F6; use Params::ValidationCompiler 'validation_for'; use Specio::Library::Builtins; use Specio::Library::Numeric; use Specio::Declare;
        declare 'F6Title', parent => t('Str'), where => sub { length $_[0] >= 2 && length $_[0] <= 12 }; declare 'F6Amount', parent => t('Int'), where => sub { $_[0] >= 1 && $_[0] <= 50 };
        enum 'F6Size', values => [qw(small large)]; declare 'F6Ref', parent => t('Str'), where => sub { $_[0] =~ /^[A-Z]{2}[0-9]{2}$/ };
        validation_for(name => 'order', params => { title => { type => t('F6Title') }, amount => { type => t('F6Amount') }, size => { type => t('F6Size') }, ref => { type => t('F6Ref') },
            labels => { type => t('ArrayRef', of => t('Str')) }, place => { type => t('HashRef') }, paid => { type => t('Bool') }, price => { type => t('Num') }, map { $_ => { type => t('Str') } } qw(contact due site) }) } or die $@;
    sub { eval { $check->(%{plain($_[0])}); 1 } and return; my $e = $@; my $m = blessed $e && $e->can('message') ? $e->message : "$e"; die bless { m => $m, c => ref $e }, 'Said' };
};
$makers{'Data::FormValidator'} = sub {
    require Data::FormValidator; require Data::FormValidator::Constraints;
    my $profile = { required => [qw(title amount size contact due ref site paid price)], constraint_methods => {
        title => Data::FormValidator::Constraints::FV_length_between(2, 12), amount => [{ name => 'between_1_and_50', constraint_method => sub { $_[1] =~ /^\d+$/ && $_[1] >= 1 && $_[1] <= 50 } }],
        size => qr/^(small|large)$/, contact => Data::FormValidator::Constraints::email(), due => $day, ref => $ref, site => $url, price => qr/^[\d.]+$/ },
        msgs => { prefix => 'err_', missing => 'Missing', invalid => 'Invalid', format => '%s', constraints => { between_1_and_50 => 'must lie between 1 and 50', length_between => 'must be 2 to 12 characters', email => 'is not an email address' } } };
    sub { my $f = plain($_[0]); delete @$f{qw(labels place)}; my $r = Data::FormValidator->check($f, $profile); $r->success ? undef : $json->encode($r->msgs) };
};
$makers{'HTML::FormHandler'} = sub {
    eval q{
        package F7; use HTML::FormHandler::Moose; extends 'HTML::FormHandler';
        has_field title => (type => 'Text', required => 1, minlength => 2, maxlength => 12); has_field amount => (type => 'Integer', required => 1, range_start => 1, range_end => 50);
        has_field size => (type => 'Select', required => 1, options => [map { { value => $_, label => $_ } } qw(small large)]); has_field contact => (type => 'Email', required => 1);
        has_field due => (type => 'Date', format => 'yy-mm-dd', required => 1); has_field ref => (type => 'Text', required => 1, apply => [{ check => qr/^[A-Z]{2}[0-9]{2}$/ }]);
        has_field price => (type => 'Float', required => 1); 1 } or die $@;
    sub { my $form = F7->new; my $f = plain($_[0]); delete @$f{qw(labels place site paid)}; $form->process(params => $f, posted => 1);
        $form->validated ? undef : $json->encode({ map { $_->name => $_->errors } $form->error_fields }) };
};
$makers{'Mojolicious::Validator'} = sub {
    require Mojolicious;
    my $app = Mojolicious->new;
    sub { my $f = plain($_[0]); my $v = $app->validator->validation; $v->input({ map { $_ => (ref $f->{$_} eq 'HASH' ? () : $f->{$_}) } grep { ref $f->{$_} ne 'HASH' } keys %$f });
        $v->required('title')->size(2, 12); $v->required('amount')->num(1, 50); $v->required('size')->in('small', 'large'); $v->required('contact')->like($email);
        $v->required('due')->like($day); $v->required('ref')->like($ref); $v->required('price')->like(qr/^[\d.]+$/); $v->required('paid');
        return unless $v->has_error; join '; ', map { my ($check, $result, @a) = @{ $v->error($_) }; "$_ failed check $check" . (@a ? '(' . join(', ', map { ref $_ ? 'pattern' : $_ } @a) . ')' : '') } sort @{ $v->failed } };
};
$makers{'DBIx::Class'} = sub {
    eval q{
        package F8::Schema::Result::Orders; use base 'DBIx::Class::Core'; __PACKAGE__->table('orders'); __PACKAGE__->add_columns(qw(title amount size ref paid price)); __PACKAGE__->set_primary_key('title');
        package F8::Schema; use base 'DBIx::Class::Schema'; __PACKAGE__->register_class(Orders => 'F8::Schema::Result::Orders'); 1 } or die $@;
    my $s = F8::Schema->connect('dbi:SQLite::memory:', '', '', { PrintError => 0 });
    $s->storage->dbh->do(q{create table orders(title text not null check(length(title) between 2 and 12), amount integer not null check(typeof(amount)='integer' and amount between 1 and 50), size text not null check(size in ('small','large')), ref text not null, paid integer not null, price real not null)});
    sub { my $f = plain($_[0]); delete @$f{qw(contact due labels site place)}; $s->resultset('Orders')->create($f)->delete; undef };
};

package Said { sub c { $_[0]{c} } sub m { $_[0]{m} } }
package main;
open(my $out, '>&', \*STDOUT); open(STDOUT, '>&', \*STDERR); $out->autoflush(1);
sub tell_ { print $out $json->encode($_[0]), "\n" }
for my $system (sort keys %makers) {
    my $check = eval { $makers{$system}->() };
    if (!$check) { tell_({ system => $system, failed => "$@" }); next }
    for my $i (-1 .. $#{ $in->{broken} }) {
        my $form = dclone($i < 0 ? $in->{valid} : $in->{broken}[$i]);
        my %row = (system => $system, case => $i);
        my $text = eval { local $SIG{ALRM} = sub { die "alarm\n" }; local $SIG{__WARN__} = sub { }; alarm 5; my $t = $check->($form); alarm 0; [$t] };
        if ($text) { $text = $text->[0]; next unless defined $text; @row{qw(status text)} = ref $text ? @$text : (undef, $text) }
        else { my $e = $@; if (blessed $e && $e->isa('Said')) { @row{qw(exception text)} = ($e->{c}, $e->{m}) } else { $row{exception} = ref $e || undef; $row{text} = blessed $e && $e->can('message') ? $e->message : "$e" } }
        tell_(\%row);
    }
}
